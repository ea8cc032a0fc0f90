/** The keys of one kind of section, as Asterisk's own documentation or sample lists them. */
export interface DocumentedSection {
  readonly file: string;
  /** The section's `type`, or its name where sections have no types. */
  readonly section: string;
  readonly source: string;
  readonly keys: string;
}

/** Copied on 2026-11-27; the samples are those of the commit in their addresses. */
export const DOCUMENTED_SECTIONS: readonly DocumentedSection[] = [
  {
    file: "asterisk.conf",
    section: "directories",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/asterisk.conf.sample",
    keys: `astagidir astcachedir astdatadir astdbdir astetcdir astkeydir astlogdir astmoddir astrundir
      astsbindir astspooldir astvarlibdir`,
  },
  {
    file: "asterisk.conf",
    section: "options",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/asterisk.conf.sample",
    keys: `alwaysfork autosystemname cache_media_frames cache_record_files console debug
      defaultlanguage documentation_language dontwarn dumpcore entityid execincludes
      forceblackbackground hide_messaging_ami_events hideconnect highpriority initcrypto
      languageprefix lightbackground live_dangerously lockconfdir maxcalls maxfiles maxload
      mindtmfduration minmemfree nocolor nofork quiet record_cache_dir refdebug rtp_pt_dynamic
      rtp_use_dynamic rungroup runuser sounds_search_custom_dir stdexten systemname timestamp
      trace transcode_via_sln transmit_silence verbose`,
  },
  {
    file: "cdr.conf",
    section: "general",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/cdr/",
    keys: `batch batchsize channeldefaultenabled congestion enable endbeforehexten
      ignorestatechanges ignoredialchanges initiatedseconds safeshutdown scheduleronly size time
      unanswered`,
  },
  {
    file: "http.conf",
    section: "general",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/http.conf.sample",
    keys: `bindaddr bindport enable_static enable_status enabled prefix redirect servername
      session_inactivity session_keep_alive sessionlimit tlsbindaddr tlscertfile tlscipher
      tlsenable tlsprivatekey tlsservercipherorder`,
  },
  {
    file: "rtp.conf",
    section: "general",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/rtp.conf.sample",
    keys: `dtls_mtu dtmftimeout ice_acl ice_deny ice_permit icesupport probation rtcpinterval
      rtpchecksums rtpend rtpstart srtpreplayprotection strictrtp stunaddr turnaddr turnpassword
      turnusername`,
  },
  {
    file: "modules.conf",
    section: "modules",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/modules.conf.sample",
    keys: "autoload load noload preload require",
  },
  {
    file: "logger.conf",
    section: "logfiles",
    source:
      "https://github.com/asterisk/asterisk/blob/f0c1c1a7b79b0f8cc0311649bf36824cbeee30a9/configs/samples/logger.conf.sample",
    keys: "console",
  },
  {
    file: "ari.conf",
    section: "general",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_ari/",
    keys: "allowed_origins auth_realm channelvars enabled pretty websocket_write_timeout",
  },
  {
    file: "ari.conf",
    section: "user",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_ari/",
    keys: "acl deny password password_format permit read_only type",
  },
  {
    file: "websocket_client.conf",
    section: "websocket_client",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_websocket_client/",
    keys: `ca_list_file ca_list_path cert_file connection_timeout connection_type enable_pingpongs
      enable_tcp_keepalives password pingpong_interval pingpong_probes priv_key_file protocols
      proxy_host proxy_password proxy_username reconnect_attempts reconnect_interval
      tcp_keepalive_interval tcp_keepalive_probes tcp_keepalive_time tls_enabled type uri username
      verify_server_cert verify_server_hostname`,
  },
  {
    file: "pjsip.conf",
    section: "global",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip/",
    keys: `all_codecs_on_empty_reinvite allow_sending_180_after_183 contact_expiration_check_interval
      debug default_auth_algorithms_uac default_auth_algorithms_uas default_from_user
      default_outbound_endpoint default_realm default_voicemail_extension disable_multi_domain
      endpoint_identifier_order ignore_uri_user_options keep_alive_interval max_forwards
      max_initial_qualify_time mwi_disable_initial_unsolicited mwi_tps_queue_high
      mwi_tps_queue_low norefersub regcontext send_contact_status_on_update_registration
      taskprocessor_overload_trigger type unidentified_request_count unidentified_request_period
      unidentified_request_prune_interval use_callerid_contact user_agent`,
  },
  {
    file: "pjsip.conf",
    section: "transport",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip/",
    keys: `allow_reload allow_wildcard_certs async_operations bind ca_list_file ca_list_path cert_file
      cipher cos domain external_media_address external_signaling_address
      external_signaling_hostname external_signaling_port local_net method password priv_key_file
      protocol require_client_cert symmetric_transport tcp_keepalive_enable
      tcp_keepalive_idle_time tcp_keepalive_interval_time tcp_keepalive_probe_count tos type
      verify_client verify_server websocket_write_timeout`,
  },
  {
    file: "pjsip.conf",
    section: "endpoint",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip/",
    keys: `100rel accept_multiple_sdp_answers accountcode acl aggregate_mwi allow allow_overlap
      allow_subscribe allow_transfer allow_unauthenticated_options aors asymmetric_rtp_codec auth
      bind_rtp_to_media_address bundle call_group callerid callerid_privacy callerid_tag
      codec_prefs_incoming_answer codec_prefs_incoming_offer codec_prefs_outgoing_answer
      codec_prefs_outgoing_offer connected_line_method contact_acl contact_deny contact_permit
      contact_user context cos_audio cos_video deny device_state_busy_at direct_media
      direct_media_glare_mitigation direct_media_method disable_direct_media_on_nat disallow
      dtls_auto_generate_cert dtls_ca_file dtls_ca_path dtls_cert_file dtls_cipher
      dtls_fingerprint dtls_private_key dtls_rekey dtls_setup dtls_verify dtmf_mode fax_detect
      fax_detect_timeout follow_early_media_fork follow_redirect_methods force_avp force_rport
      from_domain from_user g726_non_standard geoloc_incoming_call_profile
      geoloc_outgoing_call_profile ice_support identify_by ignore_183_without_sdp inband_progress
      incoming_call_offer_pref incoming_mwi_mailbox language mailboxes max_audio_streams
      max_video_streams media_address media_encryption media_encryption_optimistic
      media_use_received_transport message_context moh_passthrough moh_suggest mwi_from_user
      mwi_subscribe_replaces_unsolicited named_call_group named_pickup_group
      notify_early_inuse_ringing one_touch_recording outbound_auth outbound_proxy
      outgoing_call_offer_pref overlap_context permit pickup_group preferred_codec_only
      record_off_feature record_on_feature redirect_method refer_blind_progress rewrite_contact
      rpid_immediate rtcp_mux rtp_engine rtp_ipv6 rtp_keepalive rtp_port_end rtp_port_start
      rtp_symmetric rtp_timeout rtp_timeout_hold sdp_owner sdp_session security_mechanisms
      security_negotiation send_aoc send_connected_line send_diversion send_history_info send_pai
      send_rpid set_var srtp_tag_32 stir_shaken stir_shaken_profile sub_min_expiry
      subscribe_context suppress_moh_on_sendonly suppress_q850_reason_headers
      t38_bind_udptl_to_media_address t38_udptl t38_udptl_ec t38_udptl_ipv6 t38_udptl_maxdatagram
      t38_udptl_nat tenantid timers timers_min_se timers_sess_expires tone_zone tos_audio
      tos_video transport trust_connected_line trust_id_inbound trust_id_outbound type use_avpf
      use_ptime user_eq_phone voicemail_extension webrtc`,
  },
  {
    file: "pjsip.conf",
    section: "aor",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip/",
    keys: `authenticate_qualify contact default_expiration mailboxes max_contacts maximum_expiration
      minimum_expiration outbound_proxy qualify_2xx_only qualify_frequency qualify_timeout
      remove_existing remove_unavailable support_path type voicemail_extension`,
  },
  {
    file: "pjsip.conf",
    section: "auth",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip/",
    keys: `auth_type md5_cred nonce_lifetime oauth_clientid oauth_secret password password_digest realm
      refresh_token supported_algorithms_uac supported_algorithms_uas type username`,
  },
  {
    file: "pjsip.conf",
    section: "registration",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip_outbound_registration/",
    keys: `auth_rejection_permanent client_uri contact_header_params contact_user endpoint expiration
      fatal_retry_interval forbidden_retry_interval line max_random_initial_delay max_retries
      outbound_auth outbound_proxy retry_interval security_mechanisms security_negotiation
      server_uri support_outbound support_path transport type user_agent`,
  },
  {
    file: "pjsip.conf",
    section: "identify",
    source:
      "https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Module_Configuration/res_pjsip_endpoint_identifier_ip/",
    keys: "endpoint match match_header match_request_uri srv_lookups type",
  },
];

/** What a dialplan may use: https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/ and its two folders. */
export const DOCUMENTED_DIALPLAN = {
  Dialplan_Applications: "Busy Dial Gosub GosubIf Goto GotoIf Hangup NoOp Return Set Wait",
  Dialplan_Functions: "CALLERID CHANNEL CURL CUT ENV FILTER IF LEN PJSIP_HEADER REGEX URIENCODE",
} as const;

/** Options of a `WebSocket/…` dial string: https://docs.asterisk.org/Configuration/Channel-Drivers/WebSocket/ */
export const DOCUMENTED_WEBSOCKET_OPTIONS = "c n f p v d";

/**
 * Channel variables that Asterisk sets:
 * https://docs.asterisk.org/Configuration/Dialplan/Variables/Channel-Variables/Asterisk-Standard-Channel-Variables/
 */
export const DOCUMENTED_VARIABLES = "ANSWEREDTIME DIALSTATUS EXTEN HANGUPCAUSE UNIQUEID";

/** https://docs.asterisk.org/Asterisk_22_Documentation/API_Documentation/Asterisk_REST_Interface/Channels_REST_API/#originate */
export const DOCUMENTED_ORIGINATE =
  "endpoint extension context priority label app appArgs callerId timeout variables channelId otherChannelId originator formats";
