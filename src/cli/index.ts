export {
  type Arguments,
  type Command,
  type CommandIo,
  exitStatus,
  NoAnswer,
  outputOption,
  UsageError,
} from './command.ts'
export { cliCommands } from './commands.ts'
export { completionCommand } from './completion/completion-command.ts'
export { nearestWord } from './did-you-mean.ts'
export { helpOf, optionRows, overviewOf } from './help-text.ts'
export { commandOf, runCommand, subcommandsOf, terminalIo } from './run-command.ts'
