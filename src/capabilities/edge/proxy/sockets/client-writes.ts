import type { Duplex } from 'node:stream'

/** Writes to the client of a socket. Bytes that end a call wait for the record of the call. */
export class ClientWrites {
  readonly #client: Duplex
  #waiting: Buffer[] = []
  #holds = 0

  constructor(client: Duplex) {
    this.#client = client
  }

  write(bytes: Buffer): void {
    if (this.#holds > 0) this.#waiting.push(bytes)
    else this.#client.write(bytes)
  }

  /** Holds later bytes back until the returned function was called, once for each hold. */
  hold(): () => void {
    this.#holds += 1
    return () => {
      this.#holds -= 1
      if (this.#holds === 0) this.flush()
    }
  }

  /** Sends what waits, because the connection ends. */
  flush(): void {
    for (const bytes of this.#waiting.splice(0)) this.#client.write(bytes)
  }
}
