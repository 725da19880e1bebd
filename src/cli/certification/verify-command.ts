import type { Command } from '../command.ts'

/** `looptrace verify`: the signed statement of a release certification. */
export const verifyCommand: Command = {
  words: 'verify',
  summary: 'Verifies the signed statement of a release certification',
  synopsis: '<statement.json|-> --keys <file> [options]',
  about: [
    'Needs no service. The statement is a DSSE envelope with an in-toto Statement v1, signed with Ed25519.\n' +
      'A rejected statement that has expired exits with status 1. Deployments should give --project and --subject:\n' +
      'without them, a statement of another project or about another image is valid too. One key signs for all\n' +
      'projects of an installation.',
  ],
  options: {
    keys: { value: '<file>', about: 'Trusted public keys: a JWKS, or one key in PEM.' },
    project: { value: '<id>', about: 'Expect this project: its id, a UUID.' },
    policy: {
      value: '<file>',
      about: 'Expect this policy: SHA-256 of its canonical JSON without `digest`.',
    },
    subject: { value: '<digest>', about: 'Expect this image: `sha256:` and 64 hex digits.' },
  },
  words_min: 1,
  words_max: 1,
  examples: [
    {
      command:
        'looptrace verify statement.json --keys jwks.json --project "$PROJECT_ID" --subject "$IMAGE_DIGEST"',
      about: 'before a deployment',
    },
  ],
  statuses: {
    0: 'The statement is valid, certified and not expired.',
    1: 'The statement is valid; the release was rejected.',
    2: 'The statement is inconclusive or expired, or the command line is invalid.',
    3: 'The statement is not valid, or a file cannot be read.',
  },
  load: async () => (await import('./verify-statement.ts')).verifyStatement,
}
