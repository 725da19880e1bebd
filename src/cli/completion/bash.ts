import type { Command } from '../command.ts'
import {
  argumentsOf,
  type Completed,
  firstWords,
  quoted,
  secondWords,
  type WrittenOption,
  writtenOptions,
} from './completion-words.ts'

/** Returns the completion script for bash 4 and later. */
export function bashScript(commands: readonly Command[]): string {
  const first = firstWords(commands).map(({ word }) => word)
  return `# Completion of looptrace for bash. Printed by: looptrace completion bash
_looptrace() {
  local cur prev command words
  COMPREPLY=()
  # Bash splits --option=value into three words; the value then follows "=".
  cur=\${COMP_WORDS[COMP_CWORD]}
  prev=\${COMP_WORDS[COMP_CWORD-1]}
  [[ $cur == = ]] && cur=
  if [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=( $(compgen -W ${quoted([...first, '--help', '--version'].join(' '))} -- "$cur") )
    return
  fi
  command=\${COMP_WORDS[1]}
  if [[ $command == help ]]; then
    (( COMP_CWORD == 2 )) && COMPREPLY=( $(compgen -W ${quoted(first.join(' '))} -- "$cur") )
    return
  fi
  # A second word that is a part of the command, such as "ack" in "incidents ack".
  case "$command \${COMP_WORDS[2]}" in
${commands
  .filter(({ words }) => words.includes(' '))
  .map(({ words }) => `    ${quoted(words)}) (( COMP_CWORD > 2 )) && command=${quoted(words)} ;;`)
  .join('\n')}
  esac
  words=
  case "$command" in
${[...new Set(commands.map(({ words }) => words.split(' ')[0] ?? ''))]
  .filter((word) => !commands.some(({ words }) => words === word))
  .map((word) => caseOf(word, { commands }))
  .join('\n')}
${commands.map((command) => caseOf(command.words, { command, commands })).join('\n')}
  esac
}
# Completes words of the list, and paths of files for "files".
_looptrace_reply() {
  local line
  if [[ $1 == files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=( "$line" ); done < <(compgen -f -- "$2")
  elif [[ -n $1 ]]; then
    COMPREPLY=( $(compgen -W "$1" -- "$2") )
  fi
}
complete -F _looptrace looptrace
`
}

function caseOf(
  words: string,
  { command, commands }: { command?: Command; commands: readonly Command[] },
): string {
  const options = command === undefined ? [] : writtenOptions(command)
  const more = words.includes(' ')
    ? []
    : secondWords(commands, words).map((one) => one.words.slice(words.length + 1))
  const own = command === undefined ? 'none' : argumentsOf(command)
  const second =
    more.length === 0 ? '' : ` (( COMP_CWORD == 2 )) && words=${quoted(more.join(' '))}`
  const values = options
    .filter(({ option }) => option.value !== undefined)
    .map(
      (one) =>
        `        ${flagsOf(one).join('|')}) _looptrace_reply ${listOf(one.value)} "$cur"; return ;;`,
    )
  return [
    `    ${quoted(words)})`,
    `     ${second}`.trimEnd(),
    ...(values.length === 0 ? [] : ['      case "$prev" in', ...values, '      esac']),
    `      if [[ $cur == -* ]]; then _looptrace_reply ${quoted(options.flatMap(flagsOf).join(' '))} "$cur"`,
    own === 'files'
      ? '      else _looptrace_reply files "$cur"; fi ;;'
      : `      else _looptrace_reply "$words${own === 'none' ? '' : ` ${own.words.join(' ')}`}" "$cur"; fi ;;`,
  ]
    .filter((line) => line.trim() !== '')
    .join('\n')
}

function flagsOf({ name, short }: WrittenOption): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`]
}

function listOf(completed: Completed): string {
  if (completed === 'files') return 'files'
  return completed === 'none' ? "''" : quoted(completed.words.join(' '))
}
