import type { Command } from '../command.ts'
import { outputOption } from '../output-option.ts'

/** `looptrace get`: resources of our kinds with what they say of themselves. */
export const getCommand: Command = {
  words: 'get',
  summary: 'Lists resources of a cluster with Ready, reason and message',
  synopsis: '[kind [name]] [options]',
  about: [
    'All kinds, or one by its kind, plural or short name. The cluster and the namespace are those of the\n' +
      'current kube context (KUBECONFIG, else ~/.kube/config).',
  ],
  options: {
    namespace: { short: 'n', value: '<name>', about: 'Of this namespace.' },
    'all-namespaces': { short: 'A', about: 'Of all namespaces.' },
    selector: { short: 'l', value: '<labels>', about: 'Only with these labels: `team=search`.' },
    wide: { about: 'Columns that say more, and messages in full.' },
    ready: { about: 'Exit status 1 unless there is one and each is Ready.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 2,
  examples: [
    { command: 'looptrace get -A', about: 'everything that there is' },
    { command: 'looptrace get retpol -n search', about: 'policies of a namespace' },
    { command: 'looptrace get -l team=search --ready', about: 'in a script that waits for Ready' },
    { command: 'looptrace get ltsa checkout -o yaml', about: 'one resource as it is' },
  ],
  statuses: {
    0: 'They were listed.',
    1: 'With --ready: one is not Ready, or there is none.',
    2: 'The command line is wrong.',
    3: 'The cluster gives no answer, does not know the kind or does not allow it.',
  },
  load: async () => (await import('./get.ts')).get,
}
