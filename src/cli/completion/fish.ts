import type { Command } from '../command.ts'
import { argumentsOf, firstWords, secondWords, writtenOptions } from './completion-words.ts'

/** Returns the completion script for fish 3 and later. */
export function fishScript(commands: readonly Command[]): string {
  const names = firstWords(commands)
  const first = names.map(
    ({ word, summary }) =>
      `complete -c looptrace -n __looptrace_first -f -a ${fishQuoted(word)} -d ${fishQuoted(summary)}`,
  )
  const help = `complete -c looptrace -n '__looptrace_is help' -f -a ${fishQuoted(names.map(({ word }) => word).join(' '))}`
  const second = names.flatMap(({ word }) =>
    secondWords(commands, word).map(
      (one) =>
        `complete -c looptrace -n ${fishQuoted(`__looptrace_second ${word}`)} -f -a ${fishQuoted(one.words.slice(word.length + 1))} -d ${fishQuoted(one.summary)}`,
    ),
  )
  return `# Completion of looptrace for fish. Printed by: looptrace completion fish
function __looptrace_words
    commandline -opc | string match -v -- '-*'
end
function __looptrace_first
    test (count (__looptrace_words)) -eq 1
end
function __looptrace_second
    set -l words (__looptrace_words)
    test (count $words) -eq 2; and test $words[2] = $argv[1]
end
# Whether the command line has the command: one or two words, and not a longer command.
function __looptrace_is
    set -l words (__looptrace_words)
    set -l name (string join ' ' $words[2..3])
    if contains -- $name ${commands
      .map(({ words }) => words)
      .filter((words) => words.includes(' '))
      .map(fishQuoted)
      .join(' ')}
        test $name = "$argv"
    else
        test (count $words) -ge 2; and test $words[2] = "$argv"
    end
end
complete -c looptrace -f
${[...first, help, ...second, ...commands.flatMap(linesOf)].join('\n')}
`
}

function linesOf(command: Command): string[] {
  const when = `complete -c looptrace -n ${fishQuoted(`__looptrace_is ${command.words}`)}`
  const own = argumentsOf(command)
  const values =
    own === 'none'
      ? []
      : [own === 'files' ? `${when} -F` : `${when} -f -a ${fishQuoted(own.words.join(' '))}`]
  const options = writtenOptions(command).map(({ name, short, option, value }) => {
    const flags = `${short === undefined ? '' : ` -s ${short}`} -l ${name}`
    const taken =
      option.value === undefined
        ? ''
        : value === 'files'
          ? ' -r -F'
          : value === 'none'
            ? ' -x'
            : ` -x -a ${fishQuoted(value.words.join(' '))}`
    return `${when}${flags}${taken} -d ${fishQuoted(option.about)}`
  })
  return [...values, ...options]
}

/** Quotes text for fish, where a backslash escapes in apostrophes too. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
