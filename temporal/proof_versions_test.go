package temporal

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/pawl-run/pawl"
)

// Two builds of one deployment share the runs as Temporal is told: a run that waits goes on
// with the build that is current then, and a run in progress when its own build stops. No
// run goes back to the old build, no reply is bought twice and no mail leaves twice.
func TestProofVersions(t *testing.T) {
	w := newTown(t, false, "")
	build := func(id string) *hand {
		return w.hire(20, "TEMPORAL_DEPLOYMENT_NAME=shop", "TEMPORAL_WORKER_BUILD_ID="+id)
	}
	deployment := w.client.sdk.WorkerDeploymentClient().GetHandle("shop")
	route := func(set func() error) { // returns when all task queues know
		t.Helper()
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			err := set() // fails until the server has seen the build's worker
			if err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatal(err)
			}
		}
		for busy := true; busy; time.Sleep(100 * time.Millisecond) {
			about, err := w.client.sdk.WorkflowService().DescribeWorkerDeployment(t.Context(), &workflowservice.DescribeWorkerDeploymentRequest{Namespace: w.client.namespace, DeploymentName: "shop"})
			must(t, err)
			busy = about.GetWorkerDeploymentInfo().GetRoutingConfigUpdateState() == enumspb.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS
		}
	}
	current := func(id string) {
		route(func() error {
			_, err := deployment.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: id})
			return err
		})
	}
	builds := func() (by map[string]string, turns map[string]int) { // as 1 or 12 for each run, and how often each turn was asked
		by, turns = map[string]string{}, map[string]int{}
		for _, line := range w.noted("asked") {
			f := strings.Split(line, "/")
			turns[f[0]+"/"+f[1]]++
			if !strings.HasSuffix(by[f[0]], f[2]) {
				by[f[0]] += f[2]
			}
		}
		return by, turns
	}
	const most = 30 // a third of them goes on before, in and after the ramp
	third := func(n int) (counts map[string]int) {
		t.Helper()
		counts = map[string]int{}
		for i := n * most / 3; i < (n+1)*most/3; i++ {
			w.approve(fmt.Sprint("r", i))
		}
		w.until((n+1)*most/3, pawl.StatusSuccess, time.Minute)
		by, _ := builds()
		for i := n * most / 3; i < (n+1)*most/3; i++ {
			counts[by[fmt.Sprint("r", i)]]++
		}
		return counts
	}

	old := build("1")
	current("1")
	for i := range most {
		w.queue("brief", fmt.Sprint("r", i))
	}
	w.startAll(most)
	w.until(most, pawl.StatusWaitingApproval, time.Minute)
	w.begin("slow", "s")
	goes := func(by string) { // with s, which never waits
		t.Helper()
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			if got, _ := builds(); got["s"] == by {
				return
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("the run in progress is not driven by build %s", by)
			}
		}
	}
	goes("1")
	build("2")
	before := third(0)
	route(func() error {
		_, err := deployment.SetRampingVersion(t.Context(), client.WorkerDeploymentSetRampingVersionOptions{BuildID: "2", Percentage: 50})
		return err
	})
	ramp := third(1)
	current("2")
	after := third(2)
	figure(t, "runs by the old and the new build: before the ramp", fmt.Sprint(before), "map[1:10]")
	figure(t, "in a ramp of half", fmt.Sprint(ramp), "both")
	figure(t, "after it", fmt.Sprint(after), "map[12:10]")
	if before["1"] != most/3 || ramp["1"]+ramp["12"] != most/3 || after["12"] != most/3 {
		t.Errorf("runs went to builds %v, then %v, then %v", before, ramp, after)
	}
	_, turns := builds()
	for turn, n := range turns {
		if n > 1 {
			t.Errorf("the reply of %s was bought %d times", turn, n)
		}
	}

	must(t, old.Process.Signal(os.Interrupt))
	_ = old.Wait()
	goes("12")
	sent, twice := w.duplicates()
	figure(t, "mails sent twice", fmt.Sprintf("%d of %d", twice, sent), "0")
	if twice > 0 {
		t.Errorf("%d of %d mails left twice", twice, sent)
	}
}
