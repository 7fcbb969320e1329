#!/usr/bin/env node
// kubectl 1.26 and later run what is called kubectl_complete-tenure on the PATH to complete `kubectl tenure …`.
process.argv.splice(2, 0, "__complete");
require("../bundle/tenure.cjs");
