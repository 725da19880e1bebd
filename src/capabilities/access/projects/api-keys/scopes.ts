import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { noteBefore } from '../../../../platform/audit/index.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField, scopesField } from '../../fields.ts'
import { checkBrowserScopes } from '../../keys/browser-key.ts'
import { checkWithin, findChangeableKey, keySchema } from '../../keys/key-record.ts'
import { updateKey } from '../../keys/store.ts'
import { declaredBy } from '../../service-accounts/declaration.ts'
import { findServiceAccount } from '../../service-accounts/store.ts'
import { refuseSuspended } from '../../service-accounts/suspension.ts'
import { admitScopes } from '../key-scopes-limit.ts'

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/scopes: replaces the scopes of a
 * key. A service account's key can have only scopes of the account.
 */
export function setApiKeyScopes({ db, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/scopes',
    id: 'setApiKeyScopes',
    summary: 'Replace the scopes of a key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    body: record('SetApiKeyScopesRequest', { scopes: scopesField, managed_by: declaredBy }),
    reply: keySchema,
    errors: [
      'project_not_found',
      'api_key_not_found',
      'api_key_revoked',
      'managed_by_kubernetes',
      'service_account_suspended',
    ],
    handle: async ({ params, body: { scopes, managed_by }, caller }) => {
      const key = await findChangeableKey(db, params, { caller, managed_by })
      const { project_id, service_account_id } = key
      if (key.origins !== null) checkBrowserScopes(scopes)
      noteBefore({ scopes: key.scopes })
      if (service_account_id !== null) {
        const account = await findServiceAccount(db, { project_id, service_account_id })
        refuseSuspended(account)
        checkWithin(scopes, account?.scopes ?? [])
      }
      const gained = scopes.filter((scope) => !key.scopes.includes(scope))
      await admitScopes(db, { project_id, scopes: gained })
      const changed = await updateKey(db, params, { scopes })
      if (changed === undefined) throw problem('api_key_revoked')
      keys.forget(changed.prefix)
      roles.forget()
      return changed
    },
  })
}
