import type { Command } from './command.ts'
import { explainCommand } from './explain/explain-command.ts'
import { getCommand } from './get/get-command.ts'
import { ledgerCommand } from './ledger/ledger-command.ts'
import { lintCommand } from './lint/lint-command.ts'

/** The commands that are no roles. */
export const cliCommands: readonly Command[] = [
  getCommand,
  explainCommand,
  lintCommand,
  ledgerCommand,
]
