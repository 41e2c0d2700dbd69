{{- define "modelexport.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "modelexport.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "modelexport.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "modelexport.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "modelexport.selectorLabels" -}}
app.kubernetes.io/name: {{ include "modelexport.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "modelexport.labels" -}}
{{- $own := include "modelexport.selectorLabels" . | fromYaml }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- toYaml (merge $own .Values.commonLabels) }}
{{- end }}

{{- define "modelexport.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "modelexport.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is required when serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The image reference, from a dict of `image` (repository, tag, digest) and `root`. */}}
{{- define "modelexport.image" -}}
{{- if .image.digest }}
{{- printf "%s@%s" .image.repository .image.digest }}
{{- else }}
{{- printf "%s:%s" .image.repository (default .root.Chart.AppVersion .image.tag) }}
{{- end }}
{{- end }}

{{/* The image of the export pods: without GPUs, the one without CUDA. */}}
{{- define "modelexport.exporterImage" -}}
{{- $image := .Values.exporter.image }}
{{- if not .Values.exporter.gpu.count }}
{{- $cpu := .Values.exporter.cpuImage }}
{{- $repository := default (printf "%s-cpu" $image.repository) $cpu.repository }}
{{- $image = dict "repository" $repository "tag" (default $image.tag $cpu.tag) "digest" $cpu.digest }}
{{- end }}
{{- include "modelexport.image" (dict "image" $image "root" .) }}
{{- end }}

{{/* The kinds that triggers may name, as a list of group and resource. */}}
{{- define "modelexport.triggerKinds" -}}
{{- $known := dict
  "Job" (dict "group" "batch" "resource" "jobs")
  "TrainJob" (dict "group" "trainer.kubeflow.org" "resource" "trainjobs")
  "PyTorchJob" (dict "group" "kubeflow.org" "resource" "pytorchjobs")
  "RayJob" (dict "group" "ray.io" "resource" "rayjobs")
  "JobSet" (dict "group" "jobset.x-k8s.io" "resource" "jobsets") -}}
{{- $found := list }}
{{- range .Values.triggers.kinds }}
{{- $found = append $found (get $known .) }}
{{- end }}
{{- range .Values.triggers.custom }}
{{- $group := ternary (splitList "/" .apiVersion | first) "" (contains "/" .apiVersion) }}
{{- $found = append $found (dict "group" $group "resource" .resource) }}
{{- end }}
{{- toYaml $found }}
{{- end }}

{{/* The rest of a monitor's endpoint, with TLS and a token if the metrics demand them. */}}
{{- define "modelexport.endpoint" -}}
{{- $secure := .root.Values.metrics.secure }}
{{- if $secure.enabled }}
port: metrics
scheme: https
tlsConfig:
  {{- if $secure.tlsConfig }}
  {{- toYaml $secure.tlsConfig | nindent 2 }}
  {{- else }}
  ca: {secret: {name: {{ include "modelexport.metricsSecret" .root }}, key: ca.crt}}
  serverName: {{ default (printf "%s-metrics.%s.svc" (include "modelexport.fullname" .root) .root.Release.Namespace) $secure.serverName }}
  {{- end }}
{{- if $secure.tokenSecret.name }}
authorization:
  credentials: {name: {{ $secure.tokenSecret.name }}, key: {{ default "token" $secure.tokenSecret.key }}}
{{- else if .file }}
bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
{{- else }}
{{- fail "metrics.secure.tokenSecret.name is required for the PodMonitor, which has no token of Prometheus itself; or use the ServiceMonitor" }}
{{- end }}
{{- else }}
port: http
{{- end }}
path: /metrics
interval: {{ .interval }}
{{- end }}

{{- define "modelexport.metricsSecret" -}}
{{- required "metrics.secure.secretName is required when metrics.secure.enabled is true: a Secret with tls.crt and tls.key" .Values.metrics.secure.secretName }}
{{- end }}

{{/* The variables of OpenTelemetry, for the operator and the export pods. */}}
{{- define "modelexport.tracingEnv" -}}
{{- $tracing := .Values.tracing }}
{{- if $tracing.enabled }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ required "tracing.endpoint is required when tracing.enabled is true: the URL of an OTLP receiver" $tracing.endpoint | quote }}
{{- with $tracing.headersSecret.name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: {secretKeyRef: {name: {{ . }}, key: {{ default "headers" $tracing.headersSecret.key }}, optional: true}}
{{- end }}
{{- with $tracing.env }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}
