import { createServer } from 'node:net'

/** The address to listen on is in use, or not usable by this process. */
export class AddressUnavailable extends Error {
  override readonly name = 'AddressUnavailable'
}

/** Returns a handler that names the address in a failure to listen. Other errors are rethrown. */
export function addressTaken(host: string, port: number): (error: unknown) => never {
  return (error) => {
    const code = (error as NodeJS.ErrnoException).code
    const reasons: Record<string, string> = {
      EADDRINUSE: 'is in use by another process',
      EADDRNOTAVAIL: 'is not an address of this machine',
      EACCES: 'is not permitted for this account',
    }
    const reason = reasons[code ?? '']
    if (reason === undefined) throw error
    throw new AddressUnavailable(`${host}:${port} ${reason}`, { cause: error })
  }
}

/** Checks an address by listening on it for a moment. Throws AddressUnavailable. */
export async function assertAddressFree(host: string, port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  }).catch(addressTaken(host, port))
  await new Promise((resolve) => server.close(resolve))
}
