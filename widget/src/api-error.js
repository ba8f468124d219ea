// Status 0: the server could not be reached, or fell silent.
export class ApiError extends Error {
  constructor(status = 0, code = "", wait = 0, more = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.wait = wait;
    this.more = more;
  }
}
