{{/* The partial PodTemplateSpec of the values; exporter.podTemplate and spec.podTemplate are merged over it. */}}
{{- define "modelexport.exportPodTemplate" -}}
{{- $exporter := .Values.exporter }}
{{- $resources := deepCopy $exporter.resources }}
{{- if $exporter.gpu.count }}
{{- $limits := default dict $resources.limits }}
{{- $_ := set $limits $exporter.gpu.resource $exporter.gpu.count }}
{{- $_ := set $resources "limits" $limits }}
{{- end }}
{{- $labels := merge (dict) $exporter.podLabels .Values.commonLabels }}
{{- if or $labels $exporter.podAnnotations }}
metadata:
  {{- with $labels }}
  labels: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $exporter.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
spec:
  securityContext:
    {{- /* null removes the operator's default: Helm removed the key from the values. */}}
    {{- range $key := list "runAsUser" "runAsGroup" "fsGroup" }}
    {{- if not (hasKey (default dict $exporter.podSecurityContext) $key) }}
    {{ $key }}: null
    {{- end }}
    {{- end }}
    {{- with $exporter.podSecurityContext }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  containers:
    - name: exporter
      resources: {{- toYaml $resources | nindent 8 }}
      {{- if or $exporter.env .Values.tracing.enabled (ne $exporter.logLevel "info") }}
      env:
        {{- with include "modelexport.tracingEnv" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- if ne $exporter.logLevel "info" }}
        - {name: MODELEXPORT_LOG_LEVEL, value: {{ $exporter.logLevel }}}
        {{- end }}
        {{- with $exporter.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      {{- range $key := list "envFrom" "volumeMounts" }}
      {{- with get $exporter $key }}
      {{ $key }}: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- range $key := list "volumes" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
  {{- with get $exporter $key }}
  {{ $key }}: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with $exporter.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with $exporter.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end }}

{{/* The operator's configuration file. */}}
{{- define "modelexport.config" -}}
exporterImage: {{ include "modelexport.exporterImage" . }}
imagePullPolicy: {{ .Values.exporter.image.pullPolicy }}
podTemplate: {{- include "modelexport.exportPodTemplate" . | trim | nindent 2 }}
{{- with .Values.exporter.podTemplate }}
platformPodTemplate: {{- toYaml . | nindent 2 }}
{{- end }}
storage:
  {{- range $key, $value := .Values.exporter.storage }}
  {{- with $value }}
  {{ $key }}: {{ . | quote }}
  {{- end }}
  {{- end }}
{{- with .Values.exporter.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
isolation: {{ .Values.exporter.isolation }}
tokenAudiences: {{- toYaml .Values.exporter.tokenAudiences | nindent 2 }}
workVolume: {{- toYaml .Values.exporter.workVolume | nindent 2 }}
watchNamespaces: {{- toYaml .Values.operator.watchNamespaces | nindent 2 }}
lease:
  name: {{ include "modelexport.fullname" . }}
  {{- toYaml .Values.operator.lease | nindent 2 }}
resyncSeconds: {{ .Values.operator.resyncSeconds }}
workers: {{ .Values.operator.workers }}
api: {{- toYaml .Values.operator.api | nindent 2 }}
triggers: {{- toYaml .Values.triggers | nindent 2 }}
kueue: {{- toYaml .Values.kueue | nindent 2 }}
tracing: {enabled: {{ .Values.tracing.enabled }}, sampleRatio: {{ .Values.tracing.sampleRatio }}}
stalledSeconds: {{ .Values.operator.stalledSeconds }}
podStartGraceSeconds: {{ .Values.operator.podStartGraceSeconds }}
logLevel: {{ .Values.operator.logLevel }}
logFormat: {{ .Values.operator.logFormat }}
port: 8080
{{- if .Values.metrics.secure.enabled }}
secureMetrics: {port: 8443, certificateDirectory: /etc/modelexport-metrics}
{{- end }}
{{- end }}
