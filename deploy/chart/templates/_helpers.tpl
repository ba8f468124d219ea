{{- define "docent.selector" -}}
app.kubernetes.io/name: docent
app.kubernetes.io/instance: {{ .release.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "docent.labels" -}}
{{ include "docent.selector" . }}
app.kubernetes.io/version: {{ .release.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .release.Release.Service }}
helm.sh/chart: {{ .release.Chart.Name }}-{{ .release.Chart.Version }}
{{- end }}

{{- /* With this, a Prometheus that looks for annotated pods finds every replica. */}}
{{- define "docent.scraped" -}}
{{- with .release.Values.metrics }}
{{- if and .port (not .podMonitor) }}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/port: {{ .port | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What all pods share: who they run as, and where they may write. */}}
{{- define "docent.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .release.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    {{- if and (eq .component "prepare") .release.Values.backups.claim }}
    persistentVolumeClaim:
      claimName: {{ .release.Values.backups.claim }}
    {{- else }}
    emptyDir:
      sizeLimit: {{ .release.Values.scratchSize }}
    {{- end }}
  - name: tmp
    emptyDir: {}
{{- if ne .component "prepare" }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "docent.selector" . | nindent 8 }}
{{- end }}
{{- end }}

{{- define "docent.container" -}}
image: {{ printf "%s:%s" .release.Values.image.repository (.release.Values.image.tag | default .release.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .release.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
envFrom:
  - secretRef:
      name: {{ .release.Values.secret }}
env:
  # Below the mounted folder, so that it belongs to Docent alone.
  - name: DATA_DIR
    value: /data/docent
  - name: HOST
    value: 0.0.0.0
  - name: PORT
    value: "8000"
  - name: PUBLIC_URL
    value: https://{{ .release.Values.ingress.host }}
  - name: TRUSTED_PROXIES
    value: "1"
  {{- with .release.Values.metrics.port }}
  - name: METRICS_HOST
    value: 0.0.0.0
  - name: METRICS_PORT
    value: {{ . | quote }}
  {{- end }}
  {{- if and (eq .component "prepare") (not .release.Values.backups.claim) }}
  - name: BACKUP_BEFORE_UPGRADE
    value: "0"
  {{- end }}
  {{- range $name, $value := .release.Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  # Named one by one, so that no pod starts without them.
  {{- range $name := list "SECRET_KEY" "DATABASE_URL" "REDIS_URL" "CHROMA_URL" }}
  - name: {{ $name }}
    valueFrom:
      secretKeyRef:
        name: {{ $.release.Values.secret }}
        key: {{ $name }}
  {{- end }}
{{- end }}
