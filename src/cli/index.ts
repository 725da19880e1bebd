export {
  type Arguments,
  type Command,
  type CommandIo,
  exitStatus,
  NoAnswer,
  outputOption,
  type Run,
  UsageError,
} from './command.ts'
export { cliCommands } from './commands.ts'
export { helpOf, optionRows, overviewOf } from './help-text.ts'
export { commandOf, runCommand, terminalIo } from './run-command.ts'
