import type { RoleConfig } from '../platform/config/index.ts'
import { AddressUnavailable, assertAddressFree } from '../platform/http/index.ts'

/** The settings `<prefix>_HOST` and `<prefix>_PORT`. */
type AddressSettings = 'LOOPTRACE_HTTP' | 'LOOPTRACE_MANAGEMENT'

/** Adds to a failure to listen which setting to change; other errors are thrown as they are. */
export function nameTheSetting(prefix: AddressSettings): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof AddressUnavailable)) throw error
    const { code } = error.cause as NodeJS.ErrnoException
    const advice =
      code === 'EADDRNOTAVAIL'
        ? `Set ${prefix}_HOST to an address of this machine`
        : `Set ${prefix}_PORT to another port${code === 'EADDRINUSE' ? ', or stop that process' : ''}`
    throw new AddressUnavailable(`${error.message}. ${advice}.`, { cause: error })
  }
}

/** Throws AddressUnavailable when the role will not be able to listen, before servers are started. */
export async function assertAddressesFree(
  config: Pick<
    RoleConfig<'all'>,
    'http_host' | 'http_port' | 'management_host' | 'management_port'
  >,
): Promise<void> {
  const { http_host, http_port, management_host, management_port } = config
  await assertAddressFree(http_host, http_port).catch(nameTheSetting('LOOPTRACE_HTTP'))
  await assertAddressFree(management_host, management_port).catch(
    nameTheSetting('LOOPTRACE_MANAGEMENT'),
  )
}
