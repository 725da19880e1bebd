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

/** Does it until `stop` aborts; resolves with the exit status. */
type Start = { name: string; run(stop: AbortSignal): Promise<number> }

/** What the words of the command line ask for: a role, a command, help, or that they are wrong. */
export function startOf(words: readonly string[]): Start {
  const asked = words.length === 0 ? ['all'] : words
  const [first = '', ...others] = asked
  if (first === '--version') return printing(`${version}\n`)
  if (['help', '--help', '-h'].includes(first)) return helpFor(others)
  const found = commandOf(commands, asked)
  if (found === undefined) return notKnown(asked)
  const { command, args } = found
  return {
    name: command.words,
    run: (stop) => runCommand(command, args, terminalIo(stop)),
  }
}

const commands = [...roleCommands, ...cliCommands]

function helpFor(words: readonly string[]): Start {
  if (words.length === 0) return printing(overviewOf(cliCommands, roleCommands))
  const found = commandOf(commands, words)
  return found === undefined ? notKnown(words) : printing(helpOf(found.command))
}

function printing(text: string): Start {
  const run = async () => {
    process.stdout.write(text)
    return exitStatus.ok
  }
  return { name: 'help', run }
}

function notKnown(words: readonly string[]): Start {
  const name = words.join(' ')
  const run = async () => {
    const usage = overviewOf(cliCommands, roleCommands)
    process.stderr.write(`looptrace: "${name}" is no role and no command\n\n${usage}`)
    return exitStatus.usage
  }
  return { name, run }
}
