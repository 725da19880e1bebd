import { z } from 'zod'
import { parsedJson } from '../../kernel/json-values.ts'
import { describeSetting, minutes, seconds } from './setting.ts'
import { readSettingFile, SettingFileRefused } from './setting-file.ts'

/** Uses of a model: in verification, and in detection of lost context. */
const modelUses = ['judge', 'multi_model', 'extract', 'lost_context'] as const

const models_max = 16

const name = z.string().regex(/^[\w.-]{1,64}$/, 'expected 1–64 letters, digits, `.`, `_` or `-`')
const cents = z.number().min(0).max(1_000_000)
const keyVariable = z
  .string()
  .regex(/^[A-Za-z_]\w{0,199}$/, 'expected the name of an environment variable')
  .refine((value) => !value.startsWith('LOOPTRACE_'), 'expected a name without LOOPTRACE_')

const shared = {
  /** Name in results, costs and filters. */
  name,
  url: z.string().refine(isEndpoint, 'expected a URL with http or https, without user or password'),
  api_key_env: keyVariable.optional(),
  api_key_file: z.string().min(1).optional(),
  cents_per_million_input: cents,
  timeout_ms: z
    .int()
    .min(100)
    .max(2 * minutes)
    .default(20 * seconds),
}

const model = z.string().min(1).max(200)

const endpointSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      ...shared,
      type: z.literal('openai'),
      model,
      use: z.array(z.enum(modelUses)).min(1),
      cents_per_million_output: cents,
    }),
    z.strictObject({
      ...shared,
      type: z.literal('nli-http'),
      model: model.optional(),
      use: z.array(z.literal('judge')).min(1).default(['judge']),
      /** `nli`: three scores for premise and hypothesis. `grounding`: one probability. */
      format: z.enum(['nli', 'grounding']).default('nli'),
    }),
    z.strictObject({ ...shared, type: z.literal('embeddings'), model }),
  ])
  .refine((one) => one.api_key_env === undefined || one.api_key_file === undefined, {
    message: 'expected only one of api_key_env and api_key_file',
  })

/** A model of verification, with its key once the configuration is loaded. */
export type ModelEndpoint = z.output<typeof endpointSchema> & { api_key?: string | undefined }

/** Defines a setting that is a JSON list of models. Messages never have the value. */
export function modelEndpoints(docs: { reason: string }): z.ZodType<ModelEndpoint[]> {
  const schema = z
    .string()
    .transform((text, context) => {
      const faults: string[] = []
      const models = parseModels(text, faults)
      for (const message of faults) context.addIssue({ code: 'custom', message })
      return faults.length > 0 ? z.NEVER : models
    })
    .optional()
    .transform((models) => models ?? [])
  return describeSetting<ModelEndpoint[]>(
    schema,
    { ...docs, unit: 'JSON' },
    'a JSON list of models',
  )
}

function parseModels(text: string, faults: string[]): ModelEndpoint[] {
  const json = parsedJson(text)
  if (!Array.isArray(json) || json.length > models_max) {
    faults.push(`expected a JSON list of at most ${models_max} models`)
    return []
  }
  const models = json.flatMap((entry: unknown, at): ModelEndpoint[] => {
    const { success, data, error } = endpointSchema.safeParse(entry)
    if (success) return [data]
    for (const { path, message, code } of error.issues) {
      const field = path.length > 0 ? ` ${path.join('.')}:` : ''
      faults.push(`model ${at + 1}:${field} ${code === 'unrecognized_keys' ? unknown : message}`)
    }
    return []
  })
  faults.push(...findTwins(models))
  return models
}

/** Unknown keys are not quoted: one of them may be a key that was pasted in the wrong place. */
const unknown =
  'has an unknown field; see docs/guides/add-a-judge.md. A key belongs in a file or variable that api_key_file or api_key_env names'

function findTwins(models: readonly ModelEndpoint[]): string[] {
  const names = models.map((one) => one.name)
  const twins = new Set(names.filter((one, at) => names.indexOf(one) !== at))
  const embedding = models.filter(({ type }) => type === 'embeddings')
  return [
    ...[...twins].map((twin) => `two models have the name ${twin}, expected different names`),
    ...(embedding.length > 1 ? ['expected at most one model of type embeddings'] : []),
  ]
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && url.hash === ''
}

/** Reads the keys of models from their variables and files. Faults never have a key. */
export function readModelKeys(
  models: readonly ModelEndpoint[],
  env: Readonly<Record<string, string | undefined>>,
): { read: ModelEndpoint[]; faults: string[] } {
  const faults: string[] = []
  const read = models.map((one) => {
    if (one.api_key_env === undefined && one.api_key_file === undefined) return one
    const source = one.api_key_file === undefined ? 'api_key_env' : 'api_key_file'
    const found = readKey(one, env)
    const isUsable = found.key !== undefined && /^[\x21-\x7e]+$/.test(found.key)
    if (!isUsable) {
      faults.push(
        `${source} of model ${one.name}: ${found.fault ?? 'the key is missing or invalid'}`,
      )
    }
    return { ...one, api_key: found.key }
  })
  return { read, faults }
}

function readKey(
  { api_key_env, api_key_file }: ModelEndpoint,
  env: Readonly<Record<string, string | undefined>>,
): { key?: string | undefined; fault?: string } {
  if (api_key_file === undefined) return { key: env[api_key_env ?? ''] || undefined }
  try {
    return { key: readSettingFile(api_key_file) }
  } catch (error) {
    if (!(error instanceof SettingFileRefused)) throw error
    return { fault: error.message }
  }
}
