import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as a test's mail server received it. */
export type ReceivedMail = { from: string; to: readonly string[]; source: string }

/** A mail server of a test. */
export type TestSmtp = {
  port: number
  mails: ReceivedMail[]
  /** Connections so far. */
  connections(): number
  close(): Promise<void>
}

/** Starts a mail server on loopback that keeps every mail. */
export async function startSmtp(options: SMTPServerOptions = {}): Promise<TestSmtp> {
  const mails: ReceivedMail[] = []
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect: (_session, done) => {
      connections += 1
      done()
    },
    onData: (stream, { envelope }, done) => {
      let source = ''
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        source += part
      })
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), source })
        done()
      })
    },
    ...options,
  })
  // A client that refuses the certificate closes the connection.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Returns the plain text of a mail, with lines that quoted-printable had cut joined again. */
export function textOf({ source }: ReceivedMail): string {
  return source
    .slice(source.indexOf('\r\n\r\n') + 4)
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=')
}
