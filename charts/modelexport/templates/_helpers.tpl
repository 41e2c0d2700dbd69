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
{{ include "modelexport.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
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

{{/* The partial PodTemplateSpec that spec.podTemplate is merged over. */}}
{{- define "modelexport.exportPodTemplate" -}}
{{- $exporter := .Values.exporter }}
{{- $resources := deepCopy $exporter.resources }}
{{- if $exporter.gpu.count }}
{{- $limits := default dict $resources.limits }}
{{- $_ := set $limits $exporter.gpu.resource $exporter.gpu.count }}
{{- $_ := set $resources "limits" $limits }}
{{- end }}
spec:
  containers:
    - name: exporter
      resources: {{- toYaml $resources | nindent 8 }}
      {{- with $exporter.env }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $exporter.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $exporter.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $exporter.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $exporter.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with $exporter.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
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

{{/* The operator's configuration file. */}}
{{- define "modelexport.config" -}}
exporterImage: {{ include "modelexport.exporterImage" . }}
imagePullPolicy: {{ .Values.exporter.image.pullPolicy }}
podTemplate: {{- include "modelexport.exportPodTemplate" . | trim | nindent 2 }}
isolation: {{ .Values.exporter.isolation }}
tokenAudiences: {{- toYaml .Values.exporter.tokenAudiences | nindent 2 }}
workVolume: {{- toYaml .Values.exporter.workVolume | nindent 2 }}
watchNamespaces: {{- toYaml .Values.operator.watchNamespaces | nindent 2 }}
lease:
  name: {{ include "modelexport.fullname" . }}
resyncSeconds: {{ .Values.operator.resyncSeconds }}
workers: {{ .Values.operator.workers }}
api: {{- toYaml .Values.operator.api | nindent 2 }}
triggers: {{- toYaml .Values.triggers | nindent 2 }}
kueue: {{- toYaml .Values.kueue | nindent 2 }}
podStartGraceSeconds: {{ .Values.operator.podStartGraceSeconds }}
port: 8080
{{- end }}
