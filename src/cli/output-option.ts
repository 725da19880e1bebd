import type { Option } from './command.ts'

/** The option of every command that answers with data. */
export const outputOption: Option = {
  short: 'o',
  value: '<form>',
  choices: ['table', 'json', 'yaml'],
  about: 'How the answer is written; table when left out.',
}
