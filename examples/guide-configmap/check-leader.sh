#!/bin/sh
# Exits with 0 in the pod that the mounted ConfigMap names, otherwise with 1.
POD_NAME=${POD_NAME:-$(hostname)}
LEADER=$(cat "${CONFIG:-/config}/leader")

if [ "$POD_NAME" = "$LEADER" ]; then
  exit 0
else
  exit 1
fi
