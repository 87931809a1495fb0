// Package validate holds the files of deploy to what reads them: the types of Kubernetes, Compose,
// Prometheus and systemd. It is a module of its own, since these are heavy; .ci/run runs it.
package validate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kinds are the types that the manifests are made of.
var kinds = map[string]func() any{
	"Namespace": func() any { return new(core.Namespace) }, "ConfigMap": func() any { return new(core.ConfigMap) }, "Service": func() any { return new(core.Service) },
	"Deployment": func() any { return new(apps.Deployment) }, "HorizontalPodAutoscaler": func() any { return new(autoscaling.HorizontalPodAutoscaler) },
	"PodDisruptionBudget": func() any { return new(policy.PodDisruptionBudget) }, "NetworkPolicy": func() any { return new(networking.NetworkPolicy) },
}

// Every manifest is one of its type, field by field, and they fit together.
func TestKubernetes(t *testing.T) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../kubernetes")
	must(t, err)
	all := map[string]any{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		must(t, err)
		typed := kinds[r.GetKind()]
		if typed == nil {
			t.Fatalf("%s: no type for it here", r.CurId())
		}
		v := typed()
		if err := yaml.UnmarshalStrict(text, v); err != nil {
			t.Errorf("%s: %v", r.CurId(), err)
		}
		if r.GetKind() != "Namespace" && r.GetNamespace() != "pawl" {
			t.Errorf("%s is in the namespace %q", r.CurId(), r.GetNamespace())
		}
		all[r.GetKind()+"/"+r.GetName()] = v
	}
	for _, name := range []string{"pawl-server", "pawl-worker"} {
		d, ok := all["Deployment/"+name].(*apps.Deployment)
		if !ok {
			t.Fatalf("there is no deployment %s", name)
		}
		pods(t, name, d, all)
		budget, ok := all["PodDisruptionBudget/"+name].(*policy.PodDisruptionBudget)
		if !ok || !selects(t, budget.Spec.Selector, d.Spec.Template.Labels) {
			t.Errorf("no disruption budget is for %s", name)
		}
	}
	hpa := all["HorizontalPodAutoscaler/pawl-worker"].(*autoscaling.HorizontalPodAutoscaler)
	if to := hpa.Spec.ScaleTargetRef; all[to.Kind+"/"+to.Name] == nil {
		t.Errorf("the autoscaler is for %s/%s", to.Kind, to.Name)
	}
	if m := hpa.Spec.Metrics[0].External; m == nil || m.Metric.Name != "pawl_runs_queued" || m.Target.AverageValue == nil {
		t.Errorf("the autoscaler looks at %+v", hpa.Spec.Metrics)
	}
	if d := all["Deployment/pawl-worker"].(*apps.Deployment); d.Spec.Replicas != nil {
		t.Error("the deployment of workers sets replicas, which the autoscaler does")
	}
	service := all["Service/pawl-server"].(*core.Service)
	if d := all["Deployment/pawl-server"].(*apps.Deployment); !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(d.Spec.Template.Labels)) {
		t.Error("the service selects no server")
	}
}

// pods holds that the pods of a deployment may do little, and are probed.
func pods(t *testing.T, name string, d *apps.Deployment, all map[string]any) {
	t.Helper()
	spec := d.Spec.Template.Spec
	if !selects(t, d.Spec.Selector, d.Spec.Template.Labels) {
		t.Errorf("%s does not select its pods", name)
	}
	if s := spec.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser != 65532 || s.SeccompProfile == nil {
		t.Errorf("%s may run as root", name)
	}
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		t.Errorf("%s has a token of the cluster", name)
	}
	c := spec.Containers[0]
	if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Contains(s.Capabilities.Drop, "ALL") {
		t.Errorf("%s may write to its image, or gain rights", name)
	}
	for _, p := range []struct {
		path  string
		probe *core.Probe
	}{{"/healthz", c.LivenessProbe}, {"/healthz", c.StartupProbe}, {"/readyz", c.ReadinessProbe}} {
		if p.probe == nil || p.probe.HTTPGet == nil || p.probe.HTTPGet.Path != p.path || !slices.ContainsFunc(c.Ports, func(port core.ContainerPort) bool { return port.Name == p.probe.HTTPGet.Port.StrVal }) {
			t.Errorf("%s: no probe of %s at a port that it has", name, p.path)
		}
	}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name })
		if i < 0 {
			t.Errorf("%s mounts %s, which it has not", name, m.Name)
		} else if of := spec.Volumes[i].ConfigMap; of != nil && all["ConfigMap/"+of.Name] == nil {
			t.Errorf("%s mounts the config map %s, which there is not", name, of.Name)
		}
	}
	if !strings.Contains(c.Image, ":") || strings.HasSuffix(c.Image, ":latest") {
		t.Errorf("%s runs %s, which may change", name, c.Image)
	}
}

func selects(t *testing.T, s *meta.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(of))
}

// The Compose file is one of the schema, with and without Temporal.
func TestCompose(t *testing.T) {
	for profile, want := range map[string][]string{"": {"postgres", "server", "worker"}, "temporal": {"postgres", "server", "temporal", "temporal-ui", "temporal-worker", "worker"}} {
		o, err := cli.NewProjectOptions([]string{"../../compose.yaml"}, cli.WithEnv([]string{"PAWL_PASSWORD=secret", "PAWL_TOKEN=0123456789abcdef"}), cli.WithProfiles(strings.Fields(profile)))
		must(t, err)
		p, err := o.LoadProject(t.Context())
		must(t, err)
		names := p.ServiceNames()
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("profile %q has %q", profile, names)
		}
		for name, s := range p.Services {
			if strings.HasPrefix(s.Image, "pawl") && (!s.ReadOnly || s.User != "65532:65532" || !slices.Contains(s.CapDrop, "ALL")) {
				t.Errorf("%s may do more than it needs", name)
			}
			for _, port := range s.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s listens for other machines", name)
				}
			}
		}
		worker := p.Services["worker"]
		if n := worker.GetScale(); n != 2 {
			t.Errorf("there are %d workers", n)
		}
	}
	without, err := cli.NewProjectOptions([]string{"../../compose.yaml"})
	if err == nil {
		_, err = without.LoadProject(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "PAWL_PASSWORD") && !strings.Contains(err.Error(), "PAWL_TOKEN") {
		t.Errorf("without passwords: %v", err)
	}
}

// Prometheus reads the alert rules, and each says what is wrong and how grave it is.
func TestAlerts(t *testing.T) {
	groups, errs := rulefmt.ParseFile("../../monitoring/alerts.yaml", false, model.LegacyValidation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	n := 0
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			n++
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s says too little", r.Alert)
			}
		}
	}
	if n == 0 {
		t.Error("there are no rules")
	}
}

// systemd reads the units without a complaint, and finds little that the services could do.
func TestUnits(t *testing.T) {
	files, err := filepath.Glob("../../systemd/*.service")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		// The program need not be installed here.
		unit := filepath.Join(dir, strings.Replace(filepath.Base(file), "@.", "@1.", 1))
		must(t, os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/pawl", self)), 0o600))
		for _, args := range [][]string{{"verify", "--man=no", "--recursive-errors=no", unit}, {"security", "--offline=yes", "--threshold=50", unit}} {
			out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
			if err != nil || args[0] == "verify" && len(out) > 0 {
				t.Errorf("%s: %s", fmt.Sprint(args), out)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
