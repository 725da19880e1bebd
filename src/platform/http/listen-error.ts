import { createServer } from 'node:net'

/** The address to listen on is taken, or not ours to use. */
export class AddressUnavailable extends Error {
  override readonly name = 'AddressUnavailable'
}

/** Turns the failure to listen into one that names the address; other errors go on as they are. */
export function addressTaken(host: string, port: number): (error: unknown) => never {
  return (error) => {
    const code = (error as NodeJS.ErrnoException).code
    const reasons: Record<string, string> = {
      EADDRINUSE: 'is in use by another process',
      EADDRNOTAVAIL: 'is not an address of this machine',
      EACCES: 'may not be used by this account',
    }
    const reason = reasons[code ?? '']
    if (reason === undefined) throw error
    throw new AddressUnavailable(`${host}:${port} ${reason}`, { cause: error })
  }
}

/** Listens for a moment, to learn whether a server could. Throws AddressUnavailable. */
export async function assertAddressFree(host: string, port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  }).catch(addressTaken(host, port))
  await new Promise((resolve) => server.close(resolve))
}
