import { createHmac } from 'node:crypto'

/**
 * What a receipt has in the place of a user's id: HMAC-SHA-256 under the project's own key. Who
 * knows an id and has the key can tell that it was erased; nobody can read an id from it.
 */
export function userDigest(key: Buffer, user_id: string): Buffer {
  return createHmac('sha256', key).update(user_id).digest()
}
