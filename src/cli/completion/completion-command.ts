import { type Command, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** Returns `looptrace completion`; `commands` are all that the scripts complete. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    words: 'completion',
    summary: 'Prints the completion script of a shell',
    synopsis: 'bash|zsh|fish',
    about: [
      'The script completes commands, options and their values, and paths of files. It asks no service. Print it\n' +
        'again after an upgrade, or load it at each start of the shell as below.',
    ],
    options: {},
    words_min: 1,
    words_max: 1,
    examples: [
      { command: 'source <(looptrace completion bash)', about: 'in ~/.bashrc' },
      { command: 'source <(looptrace completion zsh)', about: 'in ~/.zshrc, after compinit' },
      { command: 'looptrace completion fish | source', about: 'in ~/.config/fish/config.fish' },
    ],
    statuses: { 0: 'The script was printed.', 2: 'The command line is invalid.' },
    load: async () => {
      const { completionScripts } = await import('./completion-scripts.ts')
      return async ({ words: [word = ''] }, io) => {
        const shell = shells.find((one) => one === word)
        if (shell === undefined) {
          const hint = didYouMean(word, shells)
          throw new UsageError(`got "${word}", expected ${shells.join(', ')}${hint}`)
        }
        io.out(completionScripts[shell](commands()))
        return 0
      }
    },
  }
}
