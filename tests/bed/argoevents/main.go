// Command argoevents runs an EventSource of kind resource and a Sensor, with Argo Events' own code
// for the watch, its filters, the sensor's filters, parameters and the trigger. It has no event bus:
// each event goes straight to the sensor, as the bus would bring it.
//
//	argoevents NAMESPACE EVENTSOURCE.json SENSOR.json
//
// Both files are read strictly: a field that Argo Events does not have is an error. For each event
// it writes one line of JSON: {"event": NAME OF THE OBJECT, "created": NAME OF WHAT WAS CREATED}.
// Nothing is created where the sensor's filter holds the event back, and "error" is what failed.
// The log of Argo Events is between these lines.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/eventsources/common"
	"github.com/argoproj/argo-events/pkg/eventsources/sources/resource"
	"github.com/argoproj/argo-events/pkg/metrics"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	"github.com/argoproj/argo-events/pkg/sensors/triggers/standard-k8s"
	"github.com/argoproj/argo-events/pkg/shared/logging"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

type line struct {
	Event   string `json:"event"`
	Created string `json:"created,omitempty"`
	Error   string `json:"error,omitempty"`
}

type runner struct {
	source  v1alpha1.EventSource
	sensor  v1alpha1.Sensor
	dynamic dynamic.Interface
	typed   kubernetes.Interface
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(namespace, source, sensor string) error {
	r := &runner{}
	if err := read(source, &r.source); err != nil {
		return err
	}
	if err := read(sensor, &r.sensor); err != nil {
		return err
	}
	r.sensor.Namespace = namespace
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(v1alpha1.EnvVarKubeConfig))
	if err != nil {
		return err
	}
	r.dynamic = dynamic.NewForConfigOrDie(config)
	r.typed = kubernetes.NewForConfigOrDie(config)
	ctx := logging.WithLogger(context.Background(), logging.NewArgoEventsLogger())
	failed := make(chan error)
	for name, spec := range r.source.Spec.Resource {
		spec.Namespace = namespace
		listener := &resource.EventListener{
			EventSourceName:     r.source.Name,
			EventName:           name,
			ResourceEventSource: spec,
			Metrics:             metrics.NewMetrics(namespace),
		}
		go func() {
			failed <- listener.StartListening(ctx, func(data []byte, _ ...common.Option) error {
				return json.NewEncoder(os.Stdout).Encode(r.deliver(ctx, name, data))
			})
		}()
	}
	return <-failed
}

// deliver does with one event of the source what the sensor does.
func (r *runner) deliver(ctx context.Context, name string, data []byte) line {
	var content struct {
		Body unstructured.Unstructured `json:"body"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return line{Error: err.Error()}
	}
	said := line{Event: content.Body.GetName()}
	event := &v1alpha1.Event{
		Context: &v1alpha1.EventContext{
			ID: "1", Type: "resource", SpecVersion: "1.0", DataContentType: "application/json",
			Source: r.source.Name, Subject: name, Time: metav1.Time{Time: time.Now()},
		},
		Data: data,
	}
	for _, dependency := range r.sensor.Spec.Dependencies {
		if dependency.EventSourceName != r.source.Name || dependency.EventName != name {
			continue
		}
		passed, err := dependencies.Filter(event, dependency.Filters, dependency.FiltersLogicalOperator)
		if err != nil {
			said.Error = err.Error()
			return said
		}
		if passed {
			said.Created, said.Error = r.trigger(ctx, map[string]*v1alpha1.Event{dependency.Name: event})
		}
	}
	return said
}

func (r *runner) trigger(ctx context.Context, events map[string]*v1alpha1.Event) (string, string) {
	trigger := r.sensor.Spec.Triggers[0]
	k8s := standard_k8s.NewStandardK8sTrigger(r.typed, r.dynamic, &r.sensor, &trigger, logging.FromContext(ctx))
	fetched, err := k8s.FetchResource(ctx)
	if err == nil {
		fetched, err = k8s.ApplyResourceParameters(events, fetched)
	}
	if err == nil {
		fetched, err = k8s.Execute(ctx, events, fetched)
	}
	if err != nil {
		return "", err.Error()
	}
	return fetched.(*unstructured.Unstructured).GetName(), ""
}

func read(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(content, into)
}
