import { z } from 'zod'
import { type KeyScope, keyScopes, organizationRoles, projectRoles } from '../../kernel/scopes.ts'
import { withoutInvisible } from '../../model/names.ts'
import { taskRuleSchema, taskRules } from '../../model/task-rules.ts'
import { Answer, etagOf } from '../../platform/http/index.ts'

/** An id in a path. */
export const idField = z.uuid().toLowerCase()

/** Without Unicode classes, which client generators do not support. */
const patterns = {
  withoutControls: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  /** The frequent invisible characters; the service refuses more of them. */
  visible:
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]*$',
}

/** A display name that is given. No invisible characters, so that names that differ look different. */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(...withoutInvisible)
  .meta({ id: 'DisplayName', pattern: patterns.visible })

/** A display name that is looked for. Older names can have invisible characters. */
export const storedNameField = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'expected text without control characters')
  .meta({ id: 'StoredName', pattern: patterns.withoutControls })

/** An e-mail address, in lower case as it is stored. */
export const emailField = z.email().max(320).toLowerCase().meta({ id: 'EmailAddress' })

/** A new password; sign-in accepts any text. */
export const newPasswordField = z.string().min(12).max(256)

/** The scopes of a key, without duplicates. */
export const scopesField = z
  .array(z.enum(keyScopes).meta({ id: 'KeyScope' }))
  .max(keyScopes.length)
  .transform((scopes): KeyScope[] => [...new Set(scopes)])

/** The environment of a key, such as `production` or `staging`. */
export const environmentField = nameField
  .nullable()
  .optional()
  .describe(
    'Default environment of data sent with the key. Must be one of `environments` of the project, if it lists any. null: no default.',
  )

/** The environments of a project, each different; null allows keys of any environment. */
export const environmentsField = z
  .array(nameField)
  .max(20)
  .refine((names) => new Set(names).size === names.length, 'expected different names')
  .meta({ uniqueItems: true })
  .nullable()
  .describe(
    'Environments that new keys can have. A key without an environment is always allowed. null: any environment. An empty list: none.',
  )

/** Rules that find the sessions and tasks of calls, each different. */
export const taskRulesOffField = z
  .array(taskRuleSchema)
  .max(taskRules.length)
  .refine((names) => new Set(names).size === names.length, 'expected different names')
  .meta({ uniqueItems: true })
  .describe(
    'Rules to switch off. An empty list: all rules find sessions and tasks of calls without X-Task-ID or X-Conversation-ID.',
  )

/** Expiry of a key; null or left out: never. */
export const expiryField = z.iso.datetime({ offset: true }).nullable().optional()
export const projectRoleField = z.enum(projectRoles).meta({ id: 'ProjectRole' })
export const organizationRoleField = z.enum(organizationRoles).meta({ id: 'OrganizationRole' })

/** A reason that is stored permanently. No control characters, because terminals show it. */
export const reasonField = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .regex(/^\P{Cc}*$/u, 'expected text without control characters')
  .meta({ id: 'RecordedReason', pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })

/** Limit of the scopes of keys; null sets no limit. */
export const keyScopesLimitField = scopesField
  .nullable()
  .describe(
    'Scopes that keys can have at most. Other scopes of a key have no effect. null: no limit. An empty list: no scope.',
  )

/** Answers a versioned object with its ETag. */
export function withEtag<R extends { version: number }>(row: R): Answer<R> {
  return new Answer(row, { headers: { etag: etagOf(row.version) } })
}

/** An instant in a reply. */
export const instantField = z.iso.datetime()
