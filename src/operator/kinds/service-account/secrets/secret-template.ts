import { z } from 'zod'
import { listByName } from '../../../common-spec.ts'

/** Maximum labels, annotations and entries of a template, each. */
const items_max = 20

/**
 * Placeholders of a template. None of their values can contain a quote, `$`, a backslash or a line
 * break, so a value can't end the text around it.
 */
export const placeholders = [
  ...(['apiKey', 'keyId', 'keyName', 'baseUrl', 'otlpEndpoint'] as const),
  ...(['projectId', 'serviceAccountId', 'namespace'] as const),
] as const

export type Placeholder = (typeof placeholders)[number]

/** Finds each placeholder of a valid template. */
export const placeholderPattern = /\{\{ *([A-Za-z]+) *\}\}/g

/** Names of app.kubernetes.io that describe an application; `managed-by` is not among them. */
const freeNames = ['name', 'instance', 'version', 'component', 'part-of'].map(
  (name) => `app.kubernetes.io/${name}`,
)

/** Domains of Kubernetes and Looptrace, with their subdomains. */
const protectedPattern = '^([a-z0-9.-]*[.])?(looptrace[.]dev|kubernetes[.]io|k8s[.]io)/'
const protectedRegExp = new RegExp(protectedPattern)

/**
 * Whether a template may not set a label or annotation, because it belongs to Kubernetes or to
 * Looptrace: it marks the owner of a Secret, or a controller trusts it.
 */
export function isProtectedName(name: string): boolean {
  return protectedRegExp.test(name) && !freeNames.includes(name)
}

const templatePattern = `^([^{]|[{][^{]|[{][{] *(${placeholders.join('|')}) *[}][}])*[{]?$`
const templateRegExp = new RegExp(templatePattern)

/** Sentences of the rules. */
const sentences = {
  name: 'expected a name outside kubernetes.io, k8s.io and looptrace.dev, which are reserved (except app.kubernetes.io/name, instance, version, component and part-of)',
  template: `template: expected no {{ except in the placeholders ${placeholders.map((name) => `{{ ${name} }}`).join(', ')}`,
  contents: 'expected either format or template',
  secretKey: 'secretTemplate.entries: expected no key that is the secretKey of a key',
} as const

/** Name of a label or annotation. At most 253 characters, so its prefix is not too long either. */
const metadataName = z
  .string()
  .max(253)
  .regex(
    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  )
  .refine((name) => !isProtectedName(name), sentences.name)
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `!self.matches('${protectedPattern}') || self in [${freeNames.map((name) => `'${name}'`).join(', ')}]`,
        message: sentences.name,
      },
    ],
  })

/** In a list, because a CRD can't check the names of a map: its rules would exceed their cost limit. */
const label = z.strictObject({
  name: metadataName.describe('Name of the label, with or without a prefix: `example.com/team`.'),
  value: z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/)
    .describe('Value of the label.'),
})

const annotation = z.strictObject({
  name: metadataName.describe('Name of the annotation, with or without a prefix.'),
  value: z.string().max(2_048).describe('Value of the annotation.'),
})

const entry = z
  .strictObject({
    key: z
      .string()
      .max(253)
      .regex(/^\.?[A-Za-z0-9_-][A-Za-z0-9._-]*$/)
      .describe('Data key of the entry in the Secret: `.env`.'),
    format: z
      .enum(['dotenv', 'json'])
      .optional()
      .describe(
        'All placeholders in one entry. `dotenv`: lines such as `LOOPTRACE_API_KEY=…`, for dotenv and `sh`. `json`: an object with the fields `apiKey`, `baseUrl`, ….',
      ),
    template: z
      .string()
      .max(2_048)
      .refine((text) => templateRegExp.test(text), sentences.template)
      .optional()
      .describe(
        `Text of the entry, in which placeholders are replaced: ${placeholders.map((name) => `\`{{ ${name} }}\``).join(', ')}.`,
      )
      .meta({
        'x-kubernetes-validations': [
          { rule: `self.matches('${templatePattern}')`, message: sentences.template },
        ],
      }),
  })
  .refine(({ format, template }) => (format === undefined) !== (template === undefined), {
    message: sentences.contents,
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: 'has(self.format) != has(self.template)', message: sentences.contents },
    ],
  })

/** The template of an account's Secrets. */
export const secretTemplate = z
  .strictObject({
    labels: z
      .array(label)
      .max(items_max)
      .optional()
      .describe('Labels of the Secrets, besides those of the operator.')
      .meta(listByName),
    annotations: z
      .array(annotation)
      .max(items_max)
      .optional()
      .describe('Annotations of the Secrets, besides those of the operator.')
      .meta(listByName),
    entries: z
      .array(entry)
      .max(items_max)
      .optional()
      .describe('Entries of the Secrets, besides the key under its `secretKey`.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] }),
  })
  .describe(
    'Labels, annotations and further entries of every Secret of the account. A change rewrites the Secrets and keeps the keys.',
  )

export type SecretTemplate = z.output<typeof secretTemplate>

/** The CEL rule of the spec that keeps entries apart from the keys. */
export const secretKeyRule = {
  rule: '!has(self.secretTemplate) || !has(self.secretTemplate.entries) || self.secretTemplate.entries.all(entry, self.keys.all(key, key.secretKey != entry.key))',
  message: sentences.secretKey,
}

/** The same rule for the operator. */
export function hasFreeSecretKeys(spec: {
  secretTemplate?: SecretTemplate | undefined
  keys: readonly { secretKey: string }[]
}): boolean {
  const taken = new Set(spec.keys.map(({ secretKey }) => secretKey))
  return (spec.secretTemplate?.entries ?? []).every(({ key }) => !taken.has(key))
}
