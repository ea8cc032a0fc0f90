import { generateKeyPair, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import forge from "node-forge";

const KEY_BITS = 2048;
const SERIAL_BYTES = 15;
const DAY_MS = 24 * 3_600_000;
/** Long enough for any run, and too short for anybody to rely on. */
const VALID_DAYS = 30;

/** PEM texts of a server's key and of its certificate. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Signs certificates for servers on this machine. Made anew for each sandbox; its key is kept nowhere. */
export class CertificateAuthority {
  /** PEM; what a client is handed to trust every certificate of this authority, and no other. */
  readonly certificate: string;
  readonly #key: forge.pki.rsa.PrivateKey;
  readonly #nowMs: number;
  readonly #name: forge.pki.CertificateField[];

  static async create(nowMs = Date.now()): Promise<CertificateAuthority> {
    return new CertificateAuthority(await newKeyPair(), nowMs);
  }

  private constructor(keys: KeyPair, nowMs: number) {
    this.#nowMs = nowMs;
    this.#key = forge.pki.privateKeyFromPem(keys.privateKey);
    // Two authorities of one name would be taken for each other, and a wrong signature told instead of an unknown issuer.
    this.#name = nameOf(`Parley sandbox ${randomBytes(4).toString("hex")}`);
    this.certificate = this.#sign(keys.publicKey, this.#name, [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
      { name: "subjectKeyIdentifier" },
    ]);
  }

  /** `hosts` are the names and IP addresses that the certificate is good for. */
  async identityFor(hosts: readonly string[]): Promise<ServerIdentity> {
    const { publicKey, privateKey } = await newKeyPair();
    const cert = this.#sign(publicKey, nameOf("Parley sandbox's vendors"), [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: hosts.map(alternativeName) },
    ]);
    return { key: privateKey, cert };
  }

  #sign(publicKey: string, subject: forge.pki.CertificateField[], extensions: object[]): string {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
    // A first bit of zero keeps the number positive, as X.509 wants it.
    certificate.serialNumber = `01${randomBytes(SERIAL_BYTES).toString("hex")}`;
    certificate.validity.notBefore = new Date(this.#nowMs - DAY_MS);
    certificate.validity.notAfter = new Date(this.#nowMs + VALID_DAYS * DAY_MS);
    certificate.setSubject(subject);
    certificate.setIssuer(this.#name);
    certificate.setExtensions(extensions);
    certificate.sign(this.#key, forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  }
}

function nameOf(value: string): forge.pki.CertificateField[] {
  return [{ name: "commonName", value }];
}

/** The kinds are those of RFC 5280, section 4.2.1.6. */
function alternativeName(host: string): object {
  return isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host };
}

function newKeyPair(): Promise<KeyPair> {
  return promisify(generateKeyPair)("rsa", {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}
