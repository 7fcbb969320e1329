{{- define "tenure.name" -}}
{{- $name := .Values.name | default .Release.Name -}}
{{- if gt (len $name) 56 -}}
{{- fail (printf "name must have at most 56 characters, because other names are derived from it: %d; set name" (len $name)) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "tenure.metadata" -}}
name: {{ include "tenure.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "tenure.labels" . | nindent 2 }}
{{- end -}}

{{- define "tenure.labels" -}}
app.kubernetes.io/name: {{ include "tenure.name" . }}
{{- end -}}

{{/* "true" if pods that do not lead are not Ready. */}}
{{- define "tenure.onlyLeaderReady" -}}
{{- if has .Values.traffic (list "ready-file" "configmap") -}}true{{- end -}}
{{- end -}}

{{- define "tenure.gracePeriod" -}}
{{- .Values.gracePeriod | default (add .Values.stopTimeout (include "tenure.graceMargin" .)) | int -}}
{{- end -}}

{{/* A sidecar stops after the application has stopped. Then it must leave traffic and release the lease. */}}
{{- define "tenure.graceMargin" -}}
{{- eq .Values.mode "sidecar" | ternary 10 5 -}}
{{- end -}}

{{/* Rejects invalid combinations before they reach a cluster. */}}
{{- define "tenure.check" -}}
{{- $values := .Values -}}
{{- if and (eq $values.mode "run") (not $values.command) -}}
{{- fail "mode run needs command, the program that the leader runs: for example --set command={node,worker.js}" -}}
{{- end -}}
{{- if and (ne $values.traffic "none") (not $values.port) -}}
{{- fail (printf "traffic %s needs port, the port that the application listens on" $values.traffic) -}}
{{- end -}}
{{- if eq (toString $values.port) (toString $values.statusPort) -}}
{{- fail (printf "port and statusPort must differ: %v" $values.port) -}}
{{- end -}}
{{- if and $values.admissionPolicy (ne $values.traffic "label") (not $values.register) -}}
{{- fail "admissionPolicy needs traffic label or register: otherwise no right needs to be narrowed" -}}
{{- end -}}
{{- if and $values.scrapeNamespace (not $values.networkPolicy) -}}
{{- fail "scrapeNamespace needs networkPolicy" -}}
{{- end -}}
{{- $grace := include "tenure.gracePeriod" . | int -}}
{{- $margin := include "tenure.graceMargin" . | int -}}
{{- if lt $grace (add $values.stopTimeout $margin | int) -}}
{{- fail (printf "gracePeriod must be at least %d s longer than stopTimeout, to leave traffic and release the lease: %d < %v + %d" $margin $grace $values.stopTimeout $margin) -}}
{{- end -}}
{{- if and (include "tenure.onlyLeaderReady" .) (eq $values.strategy "rolling") (not (kindIs "invalid" $values.maxUnavailable)) -}}
{{- $unavailable := $values.maxUnavailable -}}
{{- if hasSuffix "%" (toString $unavailable) -}}
{{- $unavailable = div (mul (trimSuffix "%" (toString $unavailable) | int) $values.replicas) 100 -}}
{{- end -}}
{{- if lt (int $unavailable) (int $values.replicas) -}}
{{- fail (printf "a rollout would never end: with traffic %s only the leader is Ready; with maxUnavailable %v of %v replicas the Deployment keeps the old leader, and the new pods wait for its lease; set maxUnavailable to %v, or strategy to recreate, or traffic to label or endpointslice, with which standbys are Ready" $values.traffic $values.maxUnavailable $values.replicas $values.replicas) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tenure.env" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- end -}}

{{- define "tenure.containerEnd" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: ["ALL"]
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{/* What Kubernetes mounts into every container by default, but only for the containers that mount it. */}}
{{- define "tenure.tokenVolume" -}}
- name: token
  projected:
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 3607
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
      - downwardAPI:
          items:
            - path: namespace
              fieldRef:
                fieldPath: metadata.namespace
{{- end -}}

{{- define "tenure.arguments" -}}
- {{ .Values.mode }}
- "--lease-lock-name={{ include "tenure.name" . }}"
- "--status=:{{ .Values.statusPort }}"
{{- if eq .Values.mode "run" }}
- "--stop-timeout={{ .Values.stopTimeout }}s"
- "--pod-grace-period={{ include "tenure.gracePeriod" . }}s"
{{- end }}
{{- if include "tenure.onlyLeaderReady" . }}
- "--ready-file=/tmp/ready"
{{- end }}
{{- if eq .Values.traffic "configmap" }}
- "--leader-configmap={{ include "tenure.name" . }}-leader"
{{- else if eq .Values.traffic "label" }}
- "--label"
{{- else if eq .Values.traffic "endpointslice" }}
- "--service={{ include "tenure.name" . }}"
{{- end }}
{{- if not .Values.register }}
- "--no-register"
{{- end }}
{{- end -}}

{{- define "tenure.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: status
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  {{- if include "tenure.onlyLeaderReady" . }}
  exec:
    command: ["cat", "/tmp/ready"]
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 1
  {{- else }}
  httpGet:
    path: /readyz
    port: status
  periodSeconds: 5
  timeoutSeconds: 3
  {{- end }}
{{- end -}}
