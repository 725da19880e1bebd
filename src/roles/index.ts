import {
  type Command,
  cliCommands,
  commandOf,
  completionCommand,
  exitStatus,
  helpOf,
  nearestWord,
  overviewOf,
  runCommand,
  subcommandsOf,
  terminalIo,
} from '../cli/index.ts'
import { printable } from '../kernel/printable.ts'
import { version } from '../platform/config/index.ts'
import { roleCommands } from './role-commands.ts'

export { roleCommands } from './role-commands.ts'

/** A command to run until `stop` aborts. Resolves with the exit status. */
type Start = { name: string; run(stop: AbortSignal): Promise<number> }

/** Parses the command line: a role, a command, help, or a usage error. */
export function parseCommandLine(words: readonly string[]): Start {
  const asked = words.length === 0 ? ['all'] : words
  const [first = '', ...others] = asked
  if (first === '--version') return printText(`${version}\n`)
  if (['help', '--help', '-h'].includes(first)) return helpFor(others)
  const found = commandOf(commands, asked)
  if (found === undefined) return unknownCommand(asked)
  const { command, args } = found
  return {
    name: command.words,
    run: (stop) =>
      runCommand(command, args, terminalIo(stop), subcommandsOf(commands, command.words)),
  }
}

function helpFor(words: readonly string[]): Start {
  if (words.length === 0) return printText(overviewOf(toolCommands, roleCommands))
  const found = commandOf(commands, words)
  return found === undefined ? unknownCommand(words) : printText(helpOf(found.command))
}

/** Finds the command that is most like the first words; undefined if none is. */
function nearestCommand([first = '', second = '']: readonly string[]): string | undefined {
  const names = commands.map(({ words }) => words)
  const firsts = new Set(names.map((name) => name.split(' ')[0] ?? ''))
  const isGroup = firsts.has(first)
  if (isGroup) {
    const nearest = nearestWord(second, subcommandsOf(commands, first))
    return nearest === undefined ? undefined : `${first} ${nearest}`
  }
  return nearestWord(first, firsts)
}

function printText(text: string): Start {
  const run = async () => {
    process.stdout.write(text)
    return exitStatus.ok
  }
  return { name: 'help', run }
}

function unknownCommand(words: readonly string[]): Start {
  const name = words.join(' ')
  const run = async () => {
    const nearest = nearestCommand(words)
    const usage =
      nearest === undefined
        ? `\n${overviewOf(toolCommands, roleCommands)}`
        : `Did you mean "looptrace ${nearest}"? See: looptrace --help\n`
    process.stderr.write(`looptrace: unknown role or command "${printable(name)}"\n${usage}`)
    return exitStatus.usage
  }
  return { name, run }
}

/** The commands other than the roles. */
export const toolCommands: readonly Command[] = [...cliCommands, completionCommand(() => commands)]

const commands = [...roleCommands, ...toolCommands]
