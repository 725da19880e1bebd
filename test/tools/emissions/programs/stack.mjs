/**
 * What the programs share: the tool, the question, and OpenTelemetry. STACK_STREAMED is 1 for streamed calls;
 * `connected.mjs` beside has the lines that `looptrace connect` prints for the client.
 */
export const streamed = process.env.STACK_STREAMED === '1'
export const instructions = 'You repair code. Use the tool read_file.'
export const question = 'Why does the test fail?'
/** Frameworks stop an agent after some steps; the longest case has 8. */
export const stepsMax = 15

const texts = {
  'src/a.ts': 'export const a = 1',
  'src/b.ts': 'export const b = 2',
  'src/c.ts': 'export const c = 3',
}

export function readFile({ path }) {
  return texts[path] ?? `file not found: ${path}`
}

export const description = 'Reads a file of the repository.'
export const schema = {
  type: 'object',
  properties: { path: { type: 'string', description: 'The path of the file.' } },
  required: ['path'],
  additionalProperties: false,
}
