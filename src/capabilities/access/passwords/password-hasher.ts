import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { problem } from '../../../kernel/problem.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'

/** Hashes passwords and checks them. */
export type PasswordHasher = {
  /** Returns a hash in PHC format, `$scrypt$ln=…,r=…,p=…$salt$hash`. */
  hash(password: string): Promise<string>
  /**
   * Whether the password matches the hash. Without a hash (unknown account) it returns false after
   * the same time, so that the time does not reveal which accounts exist.
   */
  verify(password: string, hash: string | null): Promise<boolean>
}

/**
 * scrypt with parameters of OWASP's password storage cheat sheet (N = 2^15, r = 8, p = 3: 32 MiB).
 * Hashes beyond `waiting_max` are refused with `rate_limited`, so that sign-ins do not use up
 * memory and threads.
 */
export function createPasswordHasher(options: Partial<HasherOptions> = {}): PasswordHasher {
  const { cost_log2, parallel_max, waiting_max } = { ...defaults, ...options }
  const parameters = { cost_log2, block_size: 8, parallelization: 3 }
  const slots = new Semaphore({
    permits_max: parallel_max,
    waiting: { max: waiting_max, refusal: tooManySignIns },
  })
  const nobody = formatHash(parameters, randomBytes(saltLength), randomBytes(hashLength))
  return {
    hash: async (password) => {
      const salt = randomBytes(saltLength)
      return formatHash(
        parameters,
        salt,
        await slots.run(() => deriveHash(password, salt, parameters)),
      )
    },
    verify: async (password, hash) => {
      const known = parseHash(hash ?? nobody)
      const actual = await slots.run(() => deriveHash(password, known.salt, known.parameters))
      return timingSafeEqual(actual, known.hash) && hash !== null
    },
  }
}

type HasherOptions = {
  /** Base-2 logarithm of scrypt's N. Memory is 2^N KiB, since r is 8. */
  cost_log2: number
  /** Maximum concurrent hashes. Each uses one of libuv's four threads. */
  parallel_max: number
  /** Maximum waiting hashes. */
  waiting_max: number
}

const defaults: HasherOptions = { cost_log2: 15, parallel_max: 2, waiting_max: 50 }

type Parameters = { cost_log2: number; block_size: number; parallelization: number }

const saltLength = 16
const hashLength = 32
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

function deriveHash(password: string, salt: Buffer, parameters: Parameters): Promise<Buffer> {
  const { cost_log2, block_size, parallelization } = parameters
  const N = 2 ** cost_log2
  const maxmem = 256 * N * block_size
  return derive(password.normalize('NFKC'), salt, hashLength, {
    N,
    r: block_size,
    p: parallelization,
    maxmem,
  })
}

function formatHash(parameters: Parameters, salt: Buffer, hash: Buffer): string {
  const { cost_log2, block_size, parallelization } = parameters
  const about = `ln=${cost_log2},r=${block_size},p=${parallelization}`
  return `$scrypt$${about}$${encodeUnpadded(salt)}$${encodeUnpadded(hash)}`
}

function encodeUnpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

const phcPattern =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

function parseHash(phc: string): { parameters: Parameters; salt: Buffer; hash: Buffer } {
  const [, cost, block, parallel, salt = '', hash = ''] = phcPattern.exec(phc) ?? []
  if (cost === undefined) throw new PasswordHashError()
  return {
    parameters: {
      cost_log2: Number(cost),
      block_size: Number(block),
      parallelization: Number(parallel),
    },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

/** A stored hash is malformed. The message leaves it out, because hashes are sensitive. */
class PasswordHashError extends Error {
  override readonly name = 'PasswordHashError'
  override readonly message =
    'a stored password hash is not of the form $scrypt$ln=,r=,p=$salt$hash'
}

function tooManySignIns(): Error {
  return problem('rate_limited', {
    detail: 'Too many sign-ins at once. Retry shortly',
    retry_after_s: 1,
  })
}
