import { type Command, exitStatus, outputOption } from '../command.ts'

/** `looptrace certify`: certifies a release in a pipeline. */
export const certifyCommand: Command = {
  words: 'certify',
  summary: 'Certifies a release: compares its tasks and eval runs with a policy',
  synopsis: '--release <name@version> (--environment <name> | --no-environment) [options]',
  about: [
    'Uploads eval runs, asks the API at LOOPTRACE_URL for a certification, waits for the verdict and writes\n' +
      'reports. The key in LOOPTRACE_API_KEY needs the scope certification:run. After an interruption the same\n' +
      'command continues: it finds the eval runs and the unended certification.',
    'An invalid command line exits with status 3, so that status 2 always means inconclusive.',
  ],
  options: {
    release: { value: '<name@version>', about: 'The release, such as support-agent@1.4.0.' },
    environment: { value: '<name>', about: 'Environment of its tasks and eval runs.' },
    'no-environment': { about: 'Certify tasks and eval runs without an environment.' },
    'image-digest': { value: '<digest>', about: 'Digest of its image: sha256: and 64 hex digits.' },
    tag: {
      value: '<text>',
      multiple: true,
      about: 'Value of `release` on its tasks. Default: the version, and name@version.',
    },
    policy: { value: '<id>', about: 'Policy to follow. Default: default.' },
    from: {
      value: '<time>',
      about: 'Start of the window. Default: as declared by the first look, else the maximum age.',
    },
    to: {
      value: '<time>',
      about: 'End of the window. Default: now. The certification waits for a later time.',
    },
    baseline: {
      value: '<version>',
      about: 'Version, or name@version, that gates of the kind regression compare with.',
    },
    'eval-run': {
      value: '<file>',
      multiple: true,
      about: 'Results of an evaluation: JUnit (*.xml) or JSON lines (*.jsonl, *.ndjson).',
    },
    timeout: { value: '<duration>', about: 'Maximum wait for the verdict. Default: 30m.' },
    junit: { value: '<file>', about: 'Write a JUnit report: a test case for each gate.' },
    markdown: { value: '<file>', about: 'Write a report in Markdown.' },
    statement: { value: '<file>', about: 'Write the signed statement, for `looptrace verify`.' },
    quiet: { short: 'q', about: 'Print no progress to standard error.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    {
      command:
        'looptrace certify --release support-agent@1.4.0 --environment staging --statement statement.json',
      about: 'after the release ran in staging',
    },
    {
      command:
        'looptrace certify --release support-agent@1.4.0 --environment ci --policy evals --eval-run junit.xml',
      about: 'by its eval runs',
    },
  ],
  statuses: {
    0: 'The release is certified.',
    1: 'The release is rejected.',
    2: 'The certification is inconclusive.',
    3: 'No verdict: the command line or a file is invalid, the API refuses, or --timeout is over.',
  },
  usage_status: exitStatus.no_answer,
  load: async () => (await import('./certify.ts')).certify,
}
