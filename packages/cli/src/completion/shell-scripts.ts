/**
 * The scripts that make the Tab key ask tenure. They contain no flags: each asks `tenure __complete WORDS`, which answers from the
 * declarations of the commands, one candidate on a line, its description after a tab, and last a line with Cobra's directive.
 */
import type { Shell } from "./shells.ts";

const bash = `# Completion of tenure for bash 4 or later. To load it in every shell:
#   tenure completion bash > ~/.local/share/bash-completion/completions/tenure
_tenure() {
  local line="\${COMP_LINE:0:COMP_POINT}" current="\${COMP_WORDS[COMP_CWORD]}"
  local -a words answer
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  mapfile -t answer < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  ((\${#answer[@]} > 0)) || return
  local directive="\${answer[-1]#:}" typed="\${words[-1]}" candidate
  unset 'answer[-1]'
  # bash separates words at = and :, so only the rest of the word is replaced.
  [[ $current == "=" || $current == ":" ]] && current=""
  local before="\${typed%"$current"}"
  for candidate in "\${answer[@]}"; do
    candidate="\${candidate%%$'\\t'*}"
    [[ $candidate == "$typed"* ]] && COMPREPLY+=("\${candidate#"$before"}")
  done
  ((directive & 2)) && compopt -o nospace
  if ((directive & 16)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
  elif ! ((directive & 4)) && ((\${#COMPREPLY[@]} == 0)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _tenure tenure
`;

const zsh = `#compdef tenure
# Completion of tenure for zsh. To load it in every shell, put it into a folder of $fpath:
#   tenure completion zsh > "\${fpath[1]}/_tenure"
_tenure() {
  local -a answer candidates
  local line directive
  answer=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive="\${answer[-1]#:}"
  for line in "\${(@)answer[1,-2]}"; do
    [[ -n $line ]] || continue
    if [[ $line == *$'\\t'* ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      candidates+=("\${line//:/\\\\:}")
    fi
  done
  if (( directive & 16 )); then
    _files -/
  elif (( \${#candidates} > 0 )); then
    if (( directive & 2 )); then _describe 'tenure' candidates -S ''; else _describe 'tenure' candidates; fi
  elif ! (( directive & 4 )); then
    _files
  fi
}
if [[ "\${funcstack[1]}" == "_tenure" ]]; then _tenure "$@"; else compdef _tenure tenure; fi
`;

const fish = `# Completion of tenure for fish. To load it in every shell:
#   tenure completion fish > ~/.config/fish/completions/tenure.fish
function __tenure_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    test (count $answer) -gt 0; or return
    set -l directive (string replace ':' '' -- $answer[-1])
    set -e answer[-1]
    if test (math "bitand($directive, 16)") -gt 0
        __fish_complete_directories "$current"
    else if test (count $answer) -gt 0
        printf '%s\\n' $answer
    else if test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path "$current"
    end
end
complete -c tenure -f -a '(__tenure_complete)'
`;

export const shellScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
