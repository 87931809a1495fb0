package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"github.com/pawl-run/pawl"
)

// A Client hands runs to one namespace of a Temporal server. It is safe for concurrent use.
type Client struct {
	target    string
	namespace string
	identity  string
	sdk       client.Client
	data      converter.DataConverter
}

// DialOptions are the options of Dial; nil is the zero value.
type DialOptions struct {
	Log *slog.Logger // of the SDK; nil: nothing is logged
}

// Dial connects to the server and namespace of a URL such as
// temporal://127.0.0.1:7233/default. What the URL leaves out, TLS and API keys come from
// Temporal's own environment variables and configuration file; see envconfig of its SDK. The
// error says what is wrong with the URL, the server or the namespace.
func Dial(ctx context.Context, target string, o *DialOptions) (*Client, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "temporal" || u.User != nil || u.RawQuery != "" || strings.Contains(strings.Trim(u.Path, "/"), "/") {
		return nil, errors.New("this is no address of Temporal; write temporal://HOST:PORT/NAMESPACE") // it may hold a password
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, fmt.Errorf("the configuration of Temporal in the environment: %w", err)
	}
	if u.Host != "" {
		options.HostPort = u.Host
	}
	if name := strings.Trim(u.Path, "/"); name != "" {
		options.Namespace = name
	}
	options.HostPort = cmp.Or(options.HostPort, client.DefaultHostPort)
	options.Namespace = cmp.Or(options.Namespace, client.DefaultNamespace)
	quiet := slog.New(slog.DiscardHandler)
	if o != nil && o.Log != nil {
		quiet = o.Log
	}
	options.Logger = log.NewStructuredLogger(quiet)
	if options.DataConverter == nil {
		options.DataConverter = converter.GetDefaultDataConverter()
	}
	c := &Client{target: options.HostPort, namespace: options.Namespace, identity: "pawl", data: options.DataConverter}
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if c.sdk, err = client.DialContext(within, options); err != nil {
		return nil, fmt.Errorf("no Temporal server answers at %s: start it, or name another one: %w", options.HostPort, err)
	}
	if err := c.check(within); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the connection.
func (c *Client) Close() { c.sdk.Close() }

// check looks the namespace up.
func (c *Client) check(ctx context.Context) error {
	_, err := c.sdk.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.namespace})
	switch {
	case errors.As(err, new(*serviceerror.NamespaceNotFound)):
		return &NamespaceError{c.target, c.namespace}
	case errors.As(err, new(*serviceerror.PermissionDenied)): // the key may be for runs only
		return nil
	}
	return c.because(err)
}

// A NamespaceError says that a server answers, and does not have a namespace.
type NamespaceError struct{ server, name string }

// Error says how to create it.
func (e *NamespaceError) Error() string {
	return fmt.Sprintf("the Temporal server at %s has no namespace %q: create it with: temporal operator namespace create --namespace %[2]s", e.server, e.name)
}

// Namespace is the one that is missing.
func (e *NamespaceError) Namespace() string { return e.name }

// because names the server and the namespace in an error.
func (c *Client) because(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporal://%s/%s: %w", c.target, c.namespace, err)
}

// prepare registers the search attributes of the workflows. A workflow could not set
// those that the namespace does not have.
func (c *Client) prepare(ctx context.Context) error {
	_, err := c.sdk.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: c.namespace,
		SearchAttributes: map[string]enumspb.IndexedValueType{
			pawlStatus.GetName(): pawlStatus.GetValueType(), pawlAgent.GetName(): pawlAgent.GetValueType(), pawlWaits.GetName(): pawlWaits.GetValueType(),
		},
	})
	if err == nil || errors.As(err, new(*serviceerror.AlreadyExists)) {
		return nil
	}
	has, looking := c.sdk.WorkflowService().GetSearchAttributes(ctx, &workflowservice.GetSearchAttributesRequest{})
	if looking == nil && has.GetKeys()[pawlStatus.GetName()] > 0 && has.GetKeys()[pawlAgent.GetName()] > 0 && has.GetKeys()[pawlWaits.GetName()] > 0 {
		return nil
	}
	return fmt.Errorf("the namespace %s lacks the search attributes PawlStatus and PawlAgent (Keyword) and PawlWaits (KeywordList), and they cannot be added (%w); add them with: temporal operator search-attribute create", c.namespace, err)
}

// queue is the task queue of an agent.
func queue(agent string) string { return "pawl/" + agent }

func (c *Client) options(h pawl.Head) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: h.Run, TaskQueue: queue(h.Agent),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    temporal.NewSearchAttributes(pawlAgent.ValueSet(h.Agent), pawlStatus.ValueSet(h.Status.String())),
	}
}

// Start starts the workflow of a run, unless it is there already.
func (c *Client) Start(ctx context.Context, h pawl.Head) error {
	return c.prepared(ctx, func() error {
		_, err := c.sdk.ExecuteWorkflow(ctx, c.options(h), workflowType, Input{h.Run, h.Agent})
		return err
	})
}

// Wake signals the workflow of a run that has a reason to go on, and starts the workflow if
// Temporal does not have it. Of wakes with one id, Temporal delivers the first.
func (c *Client) Wake(ctx context.Context, h pawl.Head, id string) error {
	input, err := c.data.ToPayloads(Input{h.Run, h.Agent})
	if err != nil {
		return err
	}
	signal, err := c.data.ToPayloads(Wake{h.Seq})
	if err != nil {
		return err
	}
	attributes := map[string]*commonpb.Payload{}
	for key, value := range map[temporal.SearchAttributeKeyKeyword]string{pawlAgent: h.Agent, pawlStatus: h.Status.String()} {
		p, err := converter.GetDefaultDataConverter().ToPayload(value)
		if err != nil {
			return err
		}
		p.Metadata["type"] = []byte(key.GetValueType().String())
		attributes[key.GetName()] = p
	}
	return c.prepared(ctx, func() error {
		_, err := c.sdk.WorkflowService().SignalWithStartWorkflowExecution(ctx, &workflowservice.SignalWithStartWorkflowExecutionRequest{
			Namespace: c.namespace, WorkflowId: h.Run, WorkflowType: &commonpb.WorkflowType{Name: workflowType},
			TaskQueue: &taskqueuepb.TaskQueue{Name: queue(h.Agent)}, Input: input, Identity: c.identity, RequestId: id,
			WorkflowIdReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			SignalName:            wakeSignal, SignalInput: signal,
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: attributes},
		})
		return err
	})
}

// prepared calls do, again if the namespace had lost its search attributes.
func (c *Client) prepared(ctx context.Context, do func() error) error {
	err := do()
	if errors.As(err, new(*serviceerror.InvalidArgument)) {
		if err := c.prepare(ctx); err != nil {
			return err
		}
		err = do()
	}
	return c.because(err)
}

// Polled reports whether a worker asks for runs of an agent.
func (c *Client) Polled(ctx context.Context, agent string) (bool, error) {
	about, err := c.sdk.DescribeTaskQueue(ctx, queue(agent), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	return len(about.GetPollers()) > 0, c.because(err)
}

// busy reports whether the workflow of a run has a drive that runs, or is to be tried again.
func (c *Client) busy(ctx context.Context, run string) (bool, error) {
	about, err := c.sdk.DescribeWorkflowExecution(ctx, run, "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return false, nil
	}
	if err != nil {
		return false, c.because(err)
	}
	running := about.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	return running && (len(about.GetPendingActivities()) > 0 || about.GetPendingWorkflowTask() != nil), nil
}
