package temporal

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/pawl-run/pawl/runs/worker"
)

// A worker is versioned if its environment says of what deployment and build it is.
func TestVersioned(t *testing.T) {
	for _, c := range []struct{ name, build, want string }{
		{"", "", ""}, {"shop", "7", "shop.7"}, {"shop", "", "error"}, {"", "7", "error"},
	} {
		t.Setenv("TEMPORAL_DEPLOYMENT_NAME", c.name)
		t.Setenv("TEMPORAL_WORKER_BUILD_ID", c.build)
		o, err := workerOptions(&slots{most: 1}, time.Second, nil)
		got := ""
		if v := o.DeploymentOptions; err != nil {
			got = "error"
		} else if v.UseVersioning {
			got = v.Version.DeploymentName + "." + v.Version.BuildID
			if v.DefaultVersioningBehavior != workflow.VersioningBehaviorAutoUpgrade {
				t.Errorf("workflows are versioned as %v", v.DefaultVersioningBehavior)
			}
		}
		if got != c.want {
			t.Errorf("%q, %q: %q, %v; want %q", c.name, c.build, got, err, c.want)
		}
	}
}

// What cannot work is said at once.
func TestWorkRefused(t *testing.T) {
	c := &Client{}
	h := newHouse(t, mailer(new([]string)))
	if err := c.Work(t.Context(), h.journal, h, 0, &worker.Options{Labels: map[string]string{"a": "b"}}); err == nil || !strings.Contains(err.Error(), "not by labels") {
		t.Errorf("labels: %v", err)
	}
	for target, want := range map[string]string{
		"http://127.0.0.1:1/n":         "write temporal://HOST:PORT/NAMESPACE",
		"temporal://127.0.0.1:1/a/b":   "write temporal://HOST:PORT/NAMESPACE",
		"temporal://u:p@127.0.0.1:1/a": "write temporal://HOST:PORT/NAMESPACE",
		"temporal://127.0.0.1:1/n":     "no Temporal server answers at 127.0.0.1:1",
	} {
		if _, err := Dial(t.Context(), target, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// barren is a server without namespaces.
type barren struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (barren) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (barren) DescribeNamespace(_ context.Context, r *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(r.GetNamespace())).Err()
}

// A namespace that does not exist is an error that says how to create it.
func TestNoNamespace(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, barren{})
	go s.Serve(l)
	defer s.Stop()
	at := l.Addr().String()
	_, err = Dial(t.Context(), "temporal://"+at+"/shop", nil)
	want := "the Temporal server at " + at + ` has no namespace "shop": create it with: temporal operator namespace create --namespace shop`
	if err == nil || err.Error() != want || !errors.As(err, new(*NamespaceError)) {
		t.Errorf("%v; want %s", err, want)
	}
}
