/** One run of an API server and its dependencies. */
export type ApiServerProcess = {
  url: string
  /** Process id of the API server itself. */
  pid: number
  /** Compacts the history that lists and watches of older versions need. */
  compact(): Promise<void>
  end(signal: NodeJS.Signals): Promise<void>
}

export type ApiServerFiles = {
  /** Folder that survives restarts. */
  directory: string
  /** CSV of token,user,uid,"groups". */
  token_file: string
  /** A token of system:masters. */
  admin_token: string
  /** 0 picks a free port. */
  port: number
}
