export {
  type Asked,
  type Command,
  type CommandIo,
  CouldNotAsk,
  exitStatus,
  outputOption,
  type Run,
  UsageError,
} from './command.ts'
export { cliCommands } from './commands.ts'
export { helpOf, optionRows, overviewOf } from './help-text.ts'
export { commandOf, runCommand, terminalIo } from './run-command.ts'
