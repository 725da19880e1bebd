import {
  cliCommands,
  commandOf,
  exitStatus,
  helpOf,
  overviewOf,
  runCommand,
  terminalIo,
} from '../cli/index.ts'
import { roleCommands } from './role-commands.ts'
import { version } from './version.ts'

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
    run: (stop) => runCommand(command, args, terminalIo(stop)),
  }
}

const commands = [...roleCommands, ...cliCommands]

function helpFor(words: readonly string[]): Start {
  if (words.length === 0) return printText(overviewOf(cliCommands, roleCommands))
  const found = commandOf(commands, words)
  return found === undefined ? unknownCommand(words) : printText(helpOf(found.command))
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
    const usage = overviewOf(cliCommands, roleCommands)
    process.stderr.write(`looptrace: unknown role or command "${name}"\n\n${usage}`)
    return exitStatus.usage
  }
  return { name, run }
}
