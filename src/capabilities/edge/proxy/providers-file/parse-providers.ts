import { parseDocument } from 'yaml'
import { z } from 'zod'
import { type Endpoint, endpoints, formats } from '../formats.ts'
import { type KeyPlace, keyPlaces, providers as known } from '../providers.ts'

/** A provider of the providers file, without its key. */
export type DeclaredProvider = {
  /** The value of X-Provider. */
  name: string
  /** Undefined for a provider that is known without the file. */
  base_url: string | undefined
  formats: readonly Endpoint[]
  /** Where the provider's key goes; undefined: where each format usually has it. */
  key_in: KeyPlace | undefined
  /** Paths below the base URL, instead of the usual ones of a format. */
  paths: Readonly<Partial<Record<Endpoint, string>>>
  /** File with the provider's key, for calls that bring none. */
  key_file: string | undefined
  /** Ids of the projects and service accounts whose calls get the key of the file. */
  key_for: 'all' | ReadonlySet<string>
}

/** The file is not valid. The message names each field, and never has a value of the file. */
export class ProvidersFileRefused extends Error {
  override readonly name = 'ProvidersFileRefused'
}

const providers_max = 64
const ids_max = 1_000
const maxBaseUrlChars = 2_048
const path_characters_max = 512

const baseUrl = z
  .string()
  .max(maxBaseUrlChars)
  .refine(isBaseUrl, 'expected an http or https URL without user, password, query or fragment')

const path = z
  .string()
  .max(path_characters_max)
  .regex(
    /^(?:\/(?!\.\.?(?:\/|$|\?))[\w.~%:@=+,;()-]+)+(?:\?[\w.~%:@=+,&-]+)?$/,
    'expected a path that begins with "/", with an optional query',
  )

/** Other routes of Responses and Interactions come with these formats. */
const formatNames = endpoints.filter((name) => !/^(?:responses|interactions)\./.test(name))
const pathNames = formatNames.filter((endpoint) => formats[endpoint].path !== undefined)

const providerSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'expected 1–64 of a–z, 0–9, "_" or "-", a letter first'),
    base_url: baseUrl.optional(),
    formats: z.array(z.enum(formatNames)).min(1).max(formatNames.length).optional(),
    key_in: z.enum(keyPlaces).optional(),
    paths: z.partialRecord(z.enum(pathNames), path).optional(),
    key_file: z.string().min(1).optional(),
    key_for: z
      .union([z.literal('all'), z.array(z.uuid().toLowerCase()).min(1).max(ids_max)])
      .optional(),
  })
  .superRefine((given, context) => {
    for (const [field, message] of [...addressFaults(given), ...keyFaults(given)]) {
      context.addIssue({ code: 'custom', path: [field], message })
    }
  })

const ofKnown =
  'expected none, because the provider is known: set its base URL by LOOPTRACE_<NAME>_BASE_URL'

type Given = {
  name: string
  base_url?: string | undefined
  formats?: readonly Endpoint[] | undefined
  key_in?: KeyPlace | undefined
  paths?: object | undefined
  key_file?: string | undefined
  key_for?: unknown
}
type Fault = [field: keyof Given, message: string]

function addressFaults(given: Given): Fault[] {
  if (isKnown(given.name)) {
    const fields = ['base_url', 'formats', 'key_in', 'paths'] as const
    return fields.filter((field) => given[field] !== undefined).map((field) => [field, ofKnown])
  }
  const missing = (['base_url', 'formats'] as const).filter((field) => given[field] === undefined)
  const beyond = Object.keys(given.paths ?? {}).filter(
    (endpoint) => !given.formats?.some((format) => format === endpoint),
  )
  return [
    ...missing.map((field): Fault => [field, 'is missing']),
    ...beyond.map((endpoint): Fault => ['paths', `${endpoint} is not in "formats"`]),
  ]
}

function keyFaults({ key_file, key_for, key_in }: Given): Fault[] {
  if (key_file === undefined) return []
  if (key_in === 'none') return [['key_file', 'expected none, because key_in is "none"']]
  if (key_for !== undefined) return []
  return [['key_for', 'is missing: name the projects or service accounts, or "all"']]
}

const fileSchema = z.strictObject({ providers: z.array(providerSchema).max(providers_max) })

/** Parses the text of a providers file. Throws ProvidersFileRefused. */
export function parseProviders(text: string): DeclaredProvider[] {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' })
  const [fault] = document.errors
  if (fault !== undefined) {
    const line = text.slice(0, fault.pos[0]).split('\n').length
    throw new ProvidersFileRefused(`line ${line}: expected YAML (${fault.code})`)
  }
  const { data, error } = fileSchema.safeParse(toValue(document))
  if (error !== undefined) {
    throw new ProvidersFileRefused(error.issues.map(describeIssue).join('; '))
  }
  const names = data.providers.map(({ name }) => name)
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined) throw new ProvidersFileRefused(`two providers have the name ${twin}`)
  return data.providers.map((given) => ({
    name: given.name,
    base_url: given.base_url,
    formats: given.formats ?? [],
    key_in: given.key_in,
    paths: given.paths ?? {},
    key_file: given.key_file,
    key_for: given.key_for === 'all' ? 'all' : new Set(given.key_for ?? []),
  }))
}

function toValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch {
    throw new ProvidersFileRefused('expected fewer aliases')
  }
}

/** A message never quotes a value: a key that was pasted in the wrong place is one. */
function describeIssue({ path: at, message, code }: z.core.$ZodIssue): string {
  const where = at.length === 0 ? 'the file' : at.map(String).join('.')
  if (code === 'unrecognized_keys') return `${where}: has an unknown field`
  return `${where}: ${code === 'invalid_union' ? 'expected "all" or a list of ids' : message}`
}

function isKnown(name: string): boolean {
  return known.some((provider) => provider.name === name)
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && !/[?#]/.test(text)
}
