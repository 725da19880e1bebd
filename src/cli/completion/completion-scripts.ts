import type { Command } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

/** The completion scripts by shell. */
export const completionScripts = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
} satisfies Record<string, (commands: readonly Command[]) => string>
