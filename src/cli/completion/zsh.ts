import type { Command } from '../command.ts'
import {
  argumentsOf,
  type Completed,
  firstWords,
  quoted,
  secondWords,
  writtenOptions,
} from './completion-words.ts'

/** Returns the completion script for zsh. */
export function zshScript(commands: readonly Command[]): string {
  const names = firstWords(commands)
  return `#compdef looptrace
# Completion of looptrace for zsh. Printed by: looptrace completion zsh
_looptrace() {
  local -a list
  if (( CURRENT == 2 )); then
    list=(${names.map(({ word, summary }) => `\n      ${described(word, summary)}`).join('')}
    )
    _describe 'command' list
    return
  fi
  local command=\${words[2]}
  if [[ $command == help ]]; then
    list=(${names.map(({ word }) => quoted(word)).join(' ')})
    (( CURRENT == 3 )) && _describe 'command' list
    return
  fi
  if (( CURRENT == 3 )); then
    case $command in
${secondCases(commands).join('\n')}
    esac
  fi
  local depth=1
  case "$command \${words[3]}" in
${commands
  .filter(({ words }) => words.includes(' '))
  .map(({ words }) => `    ${quoted(words)}) command=${quoted(words)}; depth=2 ;;`)
  .join('\n')}
  esac
  # _arguments sees the command as the first word.
  shift $depth words
  (( CURRENT -= depth ))
  case $command in
${commands.map(argumentsCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _looptrace ]]; then _looptrace "$@"; else compdef _looptrace looptrace; fi
`
}

function secondCases(commands: readonly Command[]): string[] {
  return firstWords(commands).flatMap(({ word }) => {
    const more = secondWords(commands, word).map((one) =>
      described(one.words.slice(word.length + 1), one.summary),
    )
    return more.length === 0
      ? []
      : [`      ${quoted(word)}) list=(${more.join(' ')}); _describe 'command' list ;;`]
  })
}

function argumentsCase(command: Command): string {
  const options = writtenOptions(command).flatMap(({ name, short, option, value }) => {
    const about = `[${escaped(option.about, '[]')}]`
    const star = option.multiple ? '*' : ''
    const placeholder = (option.value ?? '').replaceAll(/[<>:]/g, '')
    const taken = option.value === undefined ? '' : `:${placeholder}:${actionOf(value)}`
    const long = quoted(`${star}--${name}${taken === '' ? '' : '='}${about}${taken}`)
    return short === undefined ? [long] : [quoted(`${star}-${short}${about}${taken}`), long]
  })
  const own = argumentsOf(command)
  const rest = own === 'none' ? [] : [quoted(`*:argument:${actionOf(own)}`)]
  const parts = [...options, ...rest].map((part) => ` \\\n        ${part}`)
  return `    ${quoted(command.words)})\n      _arguments -s -S${parts.join('')} ;;`
}

function actionOf(completed: Completed): string {
  if (completed === 'files') return '_files'
  return completed === 'none' ? ' ' : `(${completed.words.join(' ')})`
}

function described(word: string, summary: string): string {
  return quoted(`${escaped(word, ':')}:${escaped(summary, ':')}`)
}

function escaped(text: string, characters: string): string {
  return [...text.replaceAll('\\', '\\\\')]
    .map((one) => (characters.includes(one) ? `\\${one}` : one))
    .join('')
}
