import type { Command } from '../command.ts'

/** `looptrace audit verify`: an exported audit chain. */
export const auditVerifyCommand: Command = {
  words: 'audit verify',
  summary: 'Verifies exported audit records against published checkpoints',
  synopsis: '<records.ndjson|-> --checkpoints <folder> --keys <file> [options]',
  about: [
    'Needs no service. Reads the lines of GET /api/v2/audit/export from the first record on, and the\n' +
      'checkpoints that the service published: *.json files in a folder, in which chains may be mixed. Keep both\n' +
      'where users with write access to the database cannot change them. Finds edited, inserted and deleted records, a\n' +
      'truncated, deleted or rewritten chain, and edited details. Without the signing key, records after the newest\n' +
      'checkpoint can be replaced. The command therefore fails without a checkpoint of the chain, and if the newest one\n' +
      'does not cover the last record. The service signs one after 1,000 records, and within an hour of a record.',
  ],
  options: {
    checkpoints: { value: '<folder>', about: 'Published checkpoints, read recursively.' },
    keys: { value: '<file>', about: 'Trusted public keys: GET /api/v2/audit/keys, kept apart.' },
    'max-unprotected': {
      value: '<n>',
      about: 'Accepted number of records after the newest checkpoint. Default: 0.',
    },
    chain: {
      value: '<id>',
      about: 'The chain: an organization, or all zeros. Default: that of the first record.',
    },
  },
  words_min: 1,
  words_max: 1,
  examples: [
    {
      command:
        'looptrace audit verify records.ndjson --checkpoints checkpoints/ --keys jwks.json --max-unprotected 1000',
      about: 'an export of the whole chain, whose last records may be too new for a checkpoint',
    },
  ],
  statuses: {
    0: 'The records match the signed checkpoints, which cover them.',
    1: 'Faults were found, or the checkpoints do not cover the records.',
    2: 'The command line is invalid, or a file cannot be read.',
  },
  load: async () => (await import('./verify.ts')).verifyAudit,
}
