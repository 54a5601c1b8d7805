export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/**
 * What each shell reads once. They hand the words typed so far to `runsheet complete`, as they are and without
 * evaluating them, and offer what it answers: a candidate a line, a tab, its description; `:files` for paths.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of runsheet for bash: put  source <(runsheet completion bash)  into ~/.bashrc
_runsheet() {
  local IFS=$'\\n' line current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  # To bash \`=\` is a word of its own, and what follows it is completed alone.
  [ "$current" = "=" ] && current=""
  while read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "$current"))
    else
      line="\${line%%$'\\t'*}"
      COMPREPLY+=("\${line##*=}")
    fi
  done < <(runsheet complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _runsheet runsheet
`,
  zsh: `#compdef runsheet
# Completion of runsheet for zsh: put  source <(runsheet completion zsh)  into ~/.zshrc, after compinit
_runsheet() {
  local line files=
  local -a candidates
  for line in "\${(@f)$(runsheet complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ':files' ]]; then
      files=1
    elif [[ -n $line ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( $#candidates )) && _describe runsheet candidates
  [[ -n $files ]] && _files
  return 0
}
compdef _runsheet runsheet
`,
  fish: `# Completion of runsheet for fish: save as ~/.config/fish/completions/runsheet.fish
function __runsheet_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (runsheet complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c runsheet -f -a "(__runsheet_complete)"
`,
};
