export {
  type Asked,
  type Command,
  type CommandIo,
  CouldNotAsk,
  exitStatus,
  type Run,
  UsageError,
} from './command.ts'
export { cliCommands } from './commands.ts'
export { helpOf, optionRows, overviewOf } from './help-text.ts'
export { outputOption } from './output-option.ts'
export { commandOf, runCommand } from './run-command.ts'
export { terminalIo } from './terminal-io.ts'
