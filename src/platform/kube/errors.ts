/** What was asked of the API server: its verb and resource are those of RBAC's rules. */
export type KubeAct = {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string
  /** Plural, with its group and subresource: `retentionpolicies.looptrace.dev/status`. */
  resource: string
  namespace: string | undefined
  name: string | undefined
}

/** An act that was not done; every error of this folder is one. */
export class KubeError extends Error {
  override readonly name: string = 'KubeError'
  readonly act: KubeAct

  constructor(act: KubeAct, message: string, options?: ErrorOptions) {
    super(message, options)
    this.act = act
  }
}

/** Another writer was first, or one of that name is there (409). Read again, then decide. */
export class KubeConflict extends KubeError {
  override readonly name = 'KubeConflict'
}

/** RBAC has no rule for the act (403). The message names the verb and the resource. */
export class KubeForbidden extends KubeError {
  override readonly name = 'KubeForbidden'
}

/** It is not there (404): the object, its namespace, or the kind itself. */
export class KubeNotFound extends KubeError {
  override readonly name = 'KubeNotFound'
}

/** The version that was asked for is no longer kept (410): list again. */
export class KubeExpired extends KubeError {
  override readonly name = 'KubeExpired'
}

/** The object is against its schema or a rule, or a patch's `test` failed (400, 413, 422). */
export class KubeInvalid extends KubeError {
  override readonly name = 'KubeInvalid'
}

/** No answer, no sign-in, too many requests or a fault of the server: worth another try. */
export class KubeUnavailable extends KubeError {
  override readonly name = 'KubeUnavailable'
  /** From Retry-After. */
  readonly retry_after_ms: number | undefined

  constructor(
    act: KubeAct,
    message: string,
    options: { retry_after_ms?: number | undefined; cause?: unknown } = {},
  ) {
    super(act, message, { cause: options.cause })
    this.retry_after_ms = options.retry_after_ms
  }
}
