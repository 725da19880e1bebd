import type { Command } from '../command.ts'

/** `looptrace audit verify`: an exported audit chain. */
export const auditVerifyCommand: Command = {
  words: 'audit verify',
  summary: 'Verifies exported audit records against published checkpoints',
  synopsis: '<records.ndjson|-> --checkpoints <folder> --keys <file>',
  about: [
    'Needs no service. Reads the lines of GET /api/v2/audit/export from the first record on, and the\n' +
      'checkpoints that the service published: *.json files in a folder, in which chains may be mixed. Keep both\n' +
      'where users with write access to the database cannot change them. Finds edited, inserted and deleted records, a\n' +
      'truncated, deleted or rewritten chain, and edited details. Records after the newest checkpoint are not\n' +
      'protected yet.',
  ],
  options: {
    checkpoints: { value: '<folder>', about: 'Published checkpoints, read recursively.' },
    keys: { value: '<file>', about: 'Trusted public keys: GET /api/v2/audit/keys, kept apart.' },
    chain: {
      value: '<id>',
      about: 'The chain: an organization, or all zeros. Default: that of the first record.',
    },
  },
  words_min: 1,
  words_max: 1,
  examples: [
    {
      command: 'looptrace audit verify records.ndjson --checkpoints checkpoints/ --keys jwks.json',
      about: 'an export of the whole chain',
    },
  ],
  statuses: {
    0: 'The records match the signed checkpoints.',
    1: 'Faults were found.',
    2: 'The command line is invalid, or a file cannot be read.',
  },
  load: async () => (await import('./verify.ts')).verifyAudit,
}
